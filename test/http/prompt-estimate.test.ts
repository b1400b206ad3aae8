// The estimate of a prompt, from the HTTP side: what teaches it, and that all limits see one figure (docs/admission.md).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer } from '../support/test-router.ts';
import { ASK, answering, limitedSite } from './limits-fixture.ts';
import { CHAT } from './redirect-fixture.ts';

/** 64 bytes of text: 20 tokens as estimated at first. */
const PROMPT = 'x'.repeat(64);
const body = () => ({ model: 'm', messages: [{ content: PROMPT }] });

describe('the estimate of a prompt', () => {
  it('follows what the engine reports, model by model, and is one for all limits (api.md 15)', async () => {
    const told = { usage: { prompt_tokens: 64, completion_tokens: 0 } };
    const site = limitedSite(
      { tokens_per_day: 1_000_000 },
      { engine: answering(told), agents: [{ models: ['m', 'n'] }] },
    );
    const ratios = [];
    for (let count = 0; count < 3; count += 1) {
      await site.ask(CHAT, body(), ASK);
      const prompt = { textBytes: 1_000, messageCount: 1, imageCount: 0, answerCount: 1, declaredOutputTokens: 0 };
      ratios.push(['m', 'n'].map((model) => site.ports.ratios.estimate(model, prompt)));
    }
    // A fifth of the way from 0.3125 to 1, three times.
    assert.deepEqual(ratios, [
      [450, 313],
      [560, 313],
      [649, 313],
    ]);
  });

  it('learns nothing where no limit asks for it, from counting, from faults, or from images', async () => {
    const told = answering({ usage: { prompt_tokens: 64, completion_tokens: 0 } });
    const image = { content: [{ type: 'image_url' }, { type: 'text', text: PROMPT }] };
    for (const [settings, path, content, headers] of [
      [{ engine: told }, CHAT, body(), bearer('key-1')],
      [{ engine: told }, '/v1/messages/count_tokens', body(), ASK],
      [{ engine: answering({ usage: { prompt_tokens: 64 } }, 400) }, CHAT, body(), ASK],
      [{ engine: told }, CHAT, { model: 'm', messages: [image] }, ASK],
      [{ engine: answering({ usage: { completion_tokens: 4 } }) }, CHAT, body(), ASK],
    ] as const) {
      const site = limitedSite({ tokens_per_day: 1_000_000 }, settings);
      await site.ask(path, content, headers);
      assert.equal(site.ports.ratios.size, 0);
    }
  });
});
