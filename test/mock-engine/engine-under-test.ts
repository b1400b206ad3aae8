// An engine whose time stands in the test's hand, and short ways to ask it.

import { createMockEngine, type MockEngine } from '../../src/mock-engine/app.ts';
import type { Silence } from '../../src/mock-engine/running-request.ts';
import type { MockEngineSettings } from '../../src/mock-engine/settings.ts';

export const START_MS = 1_800_000_000_000;

const SETTINGS: MockEngineSettings = {
  address: '127.0.0.1:0',
  name: 'gpu-1',
  models: ['tiny'],
  capability: 'llm',
  tokensPerSecond: 0,
  ttftMs: 0,
  startDelayMs: 0,
  errorRate: 0,
};

/** A clock that only moves when it is told to, or, when flowing, by exactly what a sleeper asks for. */
class FakeTime {
  isFlowing = true;
  #nowMs = START_MS;
  #sleepers: { readonly dueMs: number; readonly wake: () => void }[] = [];

  readonly nowMs = (): number => this.#nowMs;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    if (this.isFlowing) {
      this.#nowMs += ms;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#sleepers.push({ dueMs: this.#nowMs + ms, wake: resolve });
      signal.addEventListener('abort', () => resolve());
    });
  };

  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#sleepers.filter(({ dueMs }) => dueMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter(({ dueMs }) => dueMs > this.#nowMs);
    for (const { wake } of due) wake();
  }
}

export class EngineUnderTest {
  readonly time = new FakeTime();
  readonly engine: MockEngine;

  constructor(settings: Partial<MockEngineSettings> = {}, chance: () => number = () => 0) {
    const ports = { nowMs: this.time.nowMs, sleep: this.time.sleep, chance };
    this.engine = createMockEngine({ ...SETTINGS, ...settings }, ports);
  }

  get(path: string): Promise<Response> {
    return this.engine.fetch(new Request(`http://engine${path}`));
  }

  /** A text goes out as it is, everything else as JSON. */
  post(path: string, body: unknown, signal?: AbortSignal, silence?: Silence): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method: 'POST', body: text, ...(signal === undefined ? {} : { signal }) };
    return this.engine.fetch(new Request(`http://engine${path}`, init), silence);
  }

  /** The value of one series, found by the start of its line; undefined when there is none. */
  async metric(name: string): Promise<number | undefined> {
    const text = await (await this.get('/metrics')).text();
    const line = text.split('\n').find((candidate) => candidate.startsWith(name));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  }
}

/** Lets everything run that waits for nothing but its turn. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One user message as the whole body of a chat or messages request. */
export function ask(content: unknown, more: object = {}): object {
  return { model: 'tiny', messages: [{ role: 'user', content }], ...more };
}
