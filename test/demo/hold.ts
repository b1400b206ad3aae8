// `make demo-hold`: a model that is scaled to zero, a client that asks for it, and the webhook that starts it meanwhile.
// Exit code 0 only when the client got its answer and everything else happened as it should.

import process from 'node:process';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { BARE_ENV, BINARY, start } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, type SleepingSite, startSleepingSite } from '../support/sleeping-site.ts';
import { Started, secret } from './fleet.ts';
import { DemoFailure, expect } from './journey.ts';
import { print } from './report.ts';

const MODEL = 'llama-3-70b';
/** How long the engine loads its weights, so to speak. */
const START_DELAY = '3s';
const RECEIVER = fileURLToPath(new URL('../../deploy/examples/wake-webhook.mjs', import.meta.url));

/** What happened, each with its second since the client asked. */
class Story {
  readonly #startedMs = performance.now();

  tell(what: string): void {
    const seconds = ((performance.now() - this.#startedMs) / 1000).toFixed(2);
    print(`  ${seconds.padStart(5)} s  ${what}`);
  }
}

async function runDemo(started: Started): Promise<void> {
  const ground = await started.ground();
  const port = await freePort();
  const secretFile = ground.write('wake-secret', secret());
  const engine = [BINARY, 'mock-engine', '--port', String(port), '--models', MODEL, '--start-delay', START_DELAY];
  const receiver = start([process.execPath, RECEIVER, '127.0.0.1:0', secretFile, MODEL, ...engine], BARE_ENV);
  await started.add(Promise.resolve(receiver));
  const url = (await receiver.line((line) => line.startsWith('listening wake-webhook '))).split(' ')[2] ?? '';
  const webhook = ['--wake-webhook-url', url, '--wake-webhook-secret-file', secretFile];
  const site = await started.add(startSleepingSite([`vllm=http://127.0.0.1:${port}#${MODEL}`], webhook));
  await site.place([MODEL]);
  print(`A router at ${site.url}, whose map says that ${MODEL} starts from zero here; no engine runs.`);
  print();
  await askWhileAsleep(site, receiver);
  print();
  await printMetrics(site);
}

async function askWhileAsleep(site: SleepingSite, receiver: Awaited<ReturnType<typeof start>>): Promise<void> {
  const story = new Story();
  const openai = new OpenAI({ baseURL: `${site.url}/v1`, apiKey: 'none', maxRetries: 0, timeout: 30_000 });
  const messages = [{ role: 'user' as const, content: 'Are you awake?' }];
  const asking = openai.chat.completions.create({ model: MODEL, messages }).withResponse();
  story.tell(`the openai package asks for ${MODEL}`);
  const gauge = `hivenet_hold_requests{model="${MODEL}"}`;
  await eventually('the request is held', async () => (await site.metric(gauge)) === 1 || undefined);
  story.tell(`the router holds it: ${gauge} 1`);
  const call = await receiver.line((line) => line.includes(' waiting for '));
  story.tell(`the webhook was called, signed: ${call.split(': ')[0]}`);
  await receiver.line((line) => line.startsWith('listening mock-engine '));
  story.tell(`it has started the engine, which answers 503 for ${START_DELAY}`);
  await site.line((line) => line.includes('to="healthy"'), 'stderr');
  story.tell('the agent is healthy');
  const { data, response } = await asking;
  const text = data.choices[0]?.message.content ?? '';
  story.tell(`the client has its answer, ${response.status}: ${data.usage?.completion_tokens} tokens`);
  const timing = response.headers.get('server-timing') ?? '';
  story.tell(`Server-Timing: ${timing}`);
  expect(text.includes(`model ${MODEL}`), 'the answer is not the engine’s');
  expect(/^hold;dur=\d{4}$/.test(timing), `Server-Timing is "${timing}"`);
}

async function printMetrics(site: SleepingSite): Promise<void> {
  const text = await (await fetch(`${site.metricsUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => /^hivenet_(hold_(requests|total|seconds_sum)|wake_)/.test(line));
  const shown = lines.filter((line) => !line.includes('outcome=') || !line.endsWith(' 0'));
  for (const line of shown) print(`  ${line}`);
  expect(shown.includes(`hivenet_hold_total{model="${MODEL}",outcome="served"} 1`), 'the hold was not counted');
  expect(shown.includes('hivenet_wake_webhook_failures_total 0'), 'a call of the webhook failed');
}

async function main(): Promise<number> {
  const started = new Started();
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve('interrupted'));
  });
  try {
    return (await Promise.race([runDemo(started), interrupted])) === 'interrupted' ? 130 : 0;
  } catch (error) {
    process.stderr.write(`FAILED ${error instanceof Error ? error.message : String(error)}\n`);
    if (!(error instanceof DemoFailure)) throw error;
    return 1;
  } finally {
    await started.stop();
  }
}

process.exit(await main());
