import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readTextFile } from '../../src/config/text-file.ts';

describe('readTextFile()', () => {
  let folder = '';

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'text-file-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const write = (content: string | Uint8Array, mode = 0o600): string => {
    const path = join(folder, 'file');
    writeFileSync(path, content);
    chmodSync(path, mode);
    return path;
  };

  it('reads text as it is, with the permission bits', () => {
    const text = '\u{FEFF}k1:é\r\n\n';
    for (const mode of [0o600, 0o644])
      assert.deepEqual(readTextFile(write(text, mode)), { ok: true, value: { text, mode } });
    assert.deepEqual(readTextFile(write('')), { ok: true, value: { text: '', mode: 0o600 } });
  });

  it('takes 1 MiB and refuses a byte more', () => {
    assert.ok(readTextFile(write(new Uint8Array(1_048_576))).ok);
    assert.deepEqual(readTextFile(write(new Uint8Array(1_048_577))), { ok: false, fault: 'more than 1 MiB' });
  });

  it('refuses bytes that are not UTF-8', () => {
    assert.deepEqual(readTextFile(write(new Uint8Array([0x6b, 0xff]))), { ok: false, fault: 'not UTF-8 text' });
  });

  it('says in words why a path cannot be read', () => {
    assert.deepEqual(readTextFile(join(folder, 'none')), { ok: false, fault: 'no such file' });
    assert.deepEqual(readTextFile(folder), { ok: false, fault: 'it is a directory' });
    assert.deepEqual(readTextFile(join(write(''), 'x')), { ok: false, fault: 'ENOTDIR' });
    assert.ok(!readTextFile('a\0b').ok);
  });
});
