import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coverageFaults, namesWhatItTests } from './coverage.ts';
import type { Exemption } from './exemptions.ts';

const ALL = Array.from({ length: 226 }, (_, index) => `R-${String(index + 1).padStart(3, '0')}`);

/** A test file that names all requirements but some. */
const without = (...left: readonly string[]) => ({
  path: 'test/a.test.ts',
  text: ALL.filter((requirement) => !left.includes(requirement))
    .map((requirement) => `it('does it (${requirement})')`)
    .join('\n'),
});

const exempt = (requirement: string, more: Partial<Exemption> = {}): Exemption => {
  return { requirement, waitsFor: 'audit and traces', reason: 'not built', ...more };
};

describe('coverageFaults()', () => {
  it('has nothing to say when every requirement from the first to the last is named', () => {
    assert.deepEqual(coverageFaults([without()], []), []);
  });

  for (const requirement of ['R-001', 'R-100', 'R-226']) {
    it(`misses ${requirement}`, () => {
      assert.deepEqual(coverageFaults([without(requirement)], []), [`${requirement}: no test names it`]);
    });
  }

  it('takes a name in any file, in a title or in a comment', () => {
    const other = { path: 'test/b.test.ts', text: '// Both sides of the limit (R-100, D-01).' };
    assert.deepEqual(coverageFaults([without('R-100'), other], []), []);
  });

  it('takes no name out of another word', () => {
    const other = { path: 'test/b.test.ts', text: 'ERR-100, OR-100' };
    assert.deepEqual(coverageFaults([without('R-100'), other], []), ['R-100: no test names it']);
  });

  it('takes the ends of a range, and nothing between them', () => {
    const range = { path: 'test/b.test.ts', text: 'R-100–R-103' };
    assert.deepEqual(coverageFaults([without('R-100', 'R-101', 'R-102', 'R-103'), range], []), [
      'R-101: no test names it',
      'R-102: no test names it',
    ]);
  });

  it('knows no other number, and says where it stands', () => {
    for (const unknown of ['R-000', 'R-227', 'R-1', 'R-1000']) {
      const files = [without(), { path: 'test/b.test.ts', text: `(${unknown})` }];
      assert.deepEqual(coverageFaults(files, []), [`${unknown}: no such requirement, in test/b.test.ts`]);
      const faults = coverageFaults([without()], [exempt(unknown)]);
      assert.deepEqual(faults, [`${unknown}: no such requirement, in the exemptions`]);
    }
  });

  it('does not miss what is exempt, until a test names it', () => {
    assert.deepEqual(coverageFaults([without('R-030')], [exempt('R-030')]), []);
    const faults = coverageFaults([without()], [exempt('R-030')]);
    assert.deepEqual(faults, ['R-030: waits for audit and traces, but is named in test/a.test.ts']);
  });

  it('asks for a test of what is exempt in part', () => {
    assert.deepEqual(coverageFaults([without()], [exempt('R-048', { isPartly: true })]), []);
    const faults = coverageFaults([without('R-048')], [exempt('R-048', { isPartly: true })]);
    assert.deepEqual(faults, ['R-048: exempt in part, but no test names the rest']);
  });

  it('refuses an exemption that is there twice', () => {
    const faults = coverageFaults([without('R-030')], [exempt('R-030'), exempt('R-030')]);
    assert.deepEqual(faults, ['R-030: exempt twice']);
  });
});

describe('namesWhatItTests()', () => {
  it('counts tests and the tables beside them, and no file that only names a requirement', () => {
    for (const path of ['http/order.test.ts', 'redirect/rotation.ts', 'e2e/choices.ts', 'model/model.test.ts']) {
      assert.equal(namesWhatItTests(path), true, path);
    }
    const others = ['mutants/groups/token.ts', 'mutants/mutants.test.ts', 'soak/main.ts', 'support/sites.ts'];
    for (const path of [...others, 'requirements/exemptions.ts', 'vectors/tokens.json', 'http/notes.md']) {
      assert.equal(namesWhatItTests(path), false, path);
    }
  });
});
