// Clients that stop in the middle of a body and engines that think, for longer than a runtime keeps a silent
// connection: before the first byte, and between two.

import { postText, RawConnection } from '../support/raw-connection.ts';
import { engineFlags, startEngine, startRouter, untilServing } from '../support/router-process.ts';

/** Bun's own default would cut after 10 to 12 s. */
const SILENCE_S = 15;
/** The listener's idle timeout is 120 s, and its clock ticks in steps of 4 s. */
const LONG_SILENCE_S = 140;

/** Of a connection between two requests, and of a body on it: together more than the idle timeout. */
const NEARLY_IDLE_S = 115;
const SHORT_SILENCE_S = 25;

export async function silence(): Promise<string> {
  return `${await streamWith(['--ttft', `${SILENCE_S}s`], [], SILENCE_S)} bytes`;
}

export async function longSilence(): Promise<string> {
  const limits = ['--request-timeout', '5m', '--stream-idle-timeout', '5m'];
  const [before, between] = await Promise.all([
    streamWith(['--ttft', `${LONG_SILENCE_S}s`], limits, LONG_SILENCE_S),
    streamWith(['--tokens-per-second', String(1 / LONG_SILENCE_S)], limits, LONG_SILENCE_S),
  ]);
  return `${LONG_SILENCE_S} s, ${before} bytes before the first chunk and ${between} after it`;
}

/** The deadline of a body is the router's, whatever the listener's idle timeout is (E15). */
export async function silentBody(): Promise<string> {
  const router = await startRouter(['--body-timeout', `${LONG_SILENCE_S}s`]);
  try {
    const framings = ['Content-Length: 100', 'Content-Length: 1000000', 'Transfer-Encoding: chunked'];
    const answers = await Promise.all(
      framings.map(async (framing) => {
        const connection = await RawConnection.open(router.url);
        connection.send(`POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
        return connection.closed((LONG_SILENCE_S + 20) * 1000);
      }),
    );
    const isNamed = (text: string): boolean => text.startsWith('HTTP/1.1 400 ') && text.includes('--body-timeout');
    if (!answers.every(isNamed)) throw new Error(answers.map((text) => text.slice(0, 20)).join(', '));
    return `${LONG_SILENCE_S} s, ${answers.length} framings`;
  } finally {
    await router.kill();
  }
}

/**
 * The idle timeout lets a body pass that is silent for less: it starts anew with the first byte of a request, on a
 * connection that was idle nearly as long as it may be.
 */
export async function bodyAfterIdling(): Promise<string> {
  const router = await startRouter(['--body-timeout', `${SHORT_SILENCE_S}s`]);
  try {
    const connection = await RawConnection.open(router.url);
    connection.send(postText(router.url, '/v1/chat/completions', { model: 'nobody', messages: [] }));
    await connection.until((received) => received.includes('model_not_found'), 5_000);
    await new Promise((resolve) => setTimeout(resolve, NEARLY_IDLE_S * 1_000));
    connection.send('POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{');
    const text = await connection.closed((SHORT_SILENCE_S + 20) * 1_000);
    if (!text.includes('--body-timeout')) throw new Error(`cut without a word: ${text.slice(-40)}`);
    return `${NEARLY_IDLE_S} s idle, then ${SHORT_SILENCE_S} s silent`;
  } finally {
    await router.kill();
  }
}

/** A stream of two tokens through a router of its own, to its last byte. The number of bytes. */
async function streamWith(pace: readonly string[], limits: readonly string[], silentS: number): Promise<number> {
  const engine = await startEngine({ name: 'thinker', models: ['chat'], args: pace });
  const router = await startRouter([...limits, ...engineFlags([engine])]);
  try {
    await untilServing(router, ['chat']);
    const startedMs = performance.now();
    const connection = await RawConnection.open(router.url);
    const messages = [{ role: 'user', content: 'Take your time' }];
    connection.send(
      postText(router.url, '/v1/chat/completions', { model: 'chat', messages, stream: true, max_tokens: 2 }),
    );
    const text = await connection.until((received) => received.includes('data: [DONE]'), (silentS + 10) * 1000);
    connection.leave();
    if (performance.now() - startedMs < silentS * 1000) throw new Error('the stream was not silent at all');
    return text.length;
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
  }
}
