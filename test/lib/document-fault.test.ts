import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DocumentFault, describeFault, quoteText } from '../../src/lib/document-fault.ts';

const broken = (fields: Partial<DocumentFault>): DocumentFault => ({ path: [], rule: 'is bad', ...fields });

describe('describeFault()', () => {
  it('names path, value and rule, as far as they are there', () => {
    assert.equal(describeFault('', broken({})), 'is bad');
    assert.equal(describeFault('a', broken({})), 'a: is bad');
    assert.equal(describeFault('', broken({ value: { kind: 'null' } })), 'null: is bad');
    assert.equal(describeFault('a', broken({ value: { kind: 'string', value: 'x' } })), 'a "x": is bad');
    assert.equal(describeFault('a', broken({ value: { kind: 'number', lexeme: '0x1F' } })), 'a 0x1F: is bad');
    assert.equal(describeFault('a', broken({ value: { kind: 'array', items: [] } })), 'a […]: is bad');
    assert.equal(describeFault('a', broken({ value: { kind: 'object', members: new Map() } })), 'a {…}: is bad');
  });
});

describe('quoteText()', () => {
  it('keeps a message on one line of bounded length', () => {
    assert.equal(quoteText('a"\n\u2028\u009b\ud800'), '"a\\"\\n??\ufffd"');
    assert.equal(quoteText('x'.repeat(80)), `"${'x'.repeat(80)}"`);
    assert.equal(quoteText('x'.repeat(81)), `"${'x'.repeat(80)}…"`);
  });
});
