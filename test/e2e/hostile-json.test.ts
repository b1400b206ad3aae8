// Bodies whose JSON takes far more to build than to send, against the binary: nobody waits for one, for nothing is built
// (R-163, T-41, T-46).

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type RouterProcess, startRouter } from '../support/router-process.ts';
import { watchStall } from '../support/stall.ts';

const PATIENT = { timeout: 60_000 };
/** The aim is 50 ms; on a busy machine the collector takes longer. */
const STALL_MAX_MS = 150;
const BODIES = 4;

let router: RouterProcess;

before(async () => {
  router = await startRouter([]);
});

after(() => router.kill());

/** A body of just under 10 MiB: `piece` as often as it fits, between `open` and `close`. */
function filled(open: string, piece: string, close: string): string {
  const [start, end] = [`{"model":"zz","x":${open}`, `${close}}`];
  return start + piece.repeat(Math.floor((10_480_000 - start.length - end.length) / piece.length)) + end;
}

const MEMBERS = Array.from({ length: 700_000 }, (_, index) => `"${index}":1`).join();

/** What each is told: without engines no model is found, in a body that is read to its end. */
const HOSTILE: Record<string, [body: string, status: number]> = {
  'arrays within each other': [`{"model":"zz","x":${'['.repeat(5_200_000)}${']'.repeat(5_200_000)}}`, 400],
  'objects in a list': [filled('[', '{},', '1]'), 404],
  'numbers in a list': [filled('[', '1,', '1]'), 404],
  'names in an object': [`{"model":"zz","x":{${MEMBERS}}}`, 404],
  'names of the request itself': [`{"model":"zz",${MEMBERS}}`, 404],
  'models without end': [`{"model":"zz",${'"model":"zz",'.repeat(800_000)}"x":1}`, 400],
  'a model without end': [`{"model":"${'\\u0061'.repeat(1_700_000)}"}`, 400],
  'escapes in a string': [filled('"', '\\n', '"'), 404],
  blanks: [filled('', ' ', '1'), 404],
  'messages of a chat': [filled('[', `{"role":"user","content":"${'A line of a chat.\\n'.repeat(60)}"},`, '1]'), 404],
};

describe('10 MiB of JSON', () => {
  for (const [what, [text, status]] of Object.entries(HOSTILE)) {
    it(`stall nobody when they are ${what}, as a few kilobytes of gzip or as they are`, PATIENT, async () => {
      const [plain, zipped] = [Buffer.from(text), gzipSync(text, { level: 1 })];
      const ask = async (body: Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<void> => {
        const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', body, headers });
        assert.equal(answer.status, status, await answer.text());
      };
      const asks = Array.from({ length: BODIES }, (_, index) =>
        index % 2 === 0 ? ask(plain, {}) : ask(zipped, { 'content-encoding': 'gzip' }),
      );
      const { longestCpuMs } = await watchStall(router, Promise.all(asks));
      assert.ok(longestCpuMs <= STALL_MAX_MS, `somebody waited for ${longestCpuMs} ms of other work`);
    });
  }
});
