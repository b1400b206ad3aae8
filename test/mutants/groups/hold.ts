// Requests that wait for their model to wake: who may, for how long, in which order, and what ends the wait (R-030, R-031,
//

import { type Mutant, mutantsOf } from '../mutant.ts';

const QUEUE_TESTS = ['test/hold', 'test/http/hold.test.ts', 'test/http/hold-changes.test.ts'];
const HTTP_TESTS = ['test/http/hold.test.ts', 'test/http/hold-changes.test.ts', 'test/http/hold-charge.test.ts'];

const BUDGET: readonly Mutant[] = mutantsOf('src/routing/hold-budget.ts', ['test/routing/hold-budget.test.ts'], {
  'what is not started from zero is held': ['placement?.scaleFromZero !== true', 'placement === undefined'],
  'a hold_budget does not count': ['placement.holdBudgetMs ?? defaultHoldMs', 'defaultHoldMs'],
  'the client makes a hold longer': ['Math.min(', 'Math.max('],
  'the client does not count': ['maxWaitMs ?? Number', 'Number'],
});

const HOLD: readonly Mutant[] = mutantsOf('src/hold/hold-queue.ts', QUEUE_TESTS, {
  'one more may wait for a model': ['held >= maxPerModel', 'held > maxPerModel'],
  'one byte more may wait': ['this.#bytes + request.bytes > maxBytes', 'this.#bytes + request.bytes > maxBytes + 1'],
  'bytes are never given back': ['    this.#bytes -= leaver.request.bytes;\n', ''],
  'bytes are not counted': ['    this.#bytes += newcomer.request.bytes;\n', ''],
  'a stopped router holds on': ["    if (this.#isStopped) return { kind: 'shutdown' };\n", ''],
  'a client that has left is held': ["    if (request.clientGone.aborted) return { kind: 'client_gone' };\n", ''],
  'what may wait for no time waits': ["    if (budgetMs <= 0) return { kind: 'unplaced' };\n", ''],
  'a new map ends nothing': ["else waiting.end({ kind: 'unplaced' });", ''],
  'a new budget counts from the new map on': [
    'waiting.deadlineMs = waiting.startedMs + budgetMs',
    'waiting.deadlineMs = this.#ports.timers.monotonicMs() + budgetMs',
  ],
  'a new budget does not count': [
    'if (budgetMs > 0) waiting.deadlineMs = waiting.startedMs + budgetMs;\n        else',
    'if (budgetMs <= 0)',
  ],
  'a hold has no end': ['if (nowMs >= waiting.deadlineMs)', 'if (false)'],
  'a client that leaves is not noticed': ["    request.clientGone.addEventListener('abort', leave);\n", ''],
  'listeners stay behind': ["        request.clientGone.removeEventListener('abort', leave);\n", ''],
  'who has gone still waits for a slot': ['        stopWaiting();\n', ''],
  'the timer goes on for ever': ['    this.#stopTicking?.();\n', ''],
  'nobody is told that a model is wanted': ['    if (held.size === 1) wake.look(newcomer.startedMs, 1);\n', ''],
  'nobody is told again': ['      wake.look(nowMs, held.size);\n', ''],
  'nobody is told that it is no longer': ['    wake.end();\n', ''],
});

const LINE: readonly Mutant[] = mutantsOf('src/dispatch/queue.ts', ['test/dispatch', 'test/hold'], {
  'held requests take the room of those who queue': ['if (!isHeld) count += 1', 'count += 1'],
  'held requests are sent away with the others': ['.filter(({ isHeld }) => !isHeld)', ''],
  'a held request that no agent may take waits on': ['[...lost, ...this.#waiters(isServed)]', 'lost'],
  'those in other lines are looked at': ['isMeant(first.search)', 'true'],
  'the last one is served first': ['.sort((a, b) => a.number - b.number)', '.sort((a, b) => b.number - a.number)'],
});

const SEAT: readonly Mutant[] = mutantsOf('src/dispatch/dispatch.ts', ['test/dispatch', 'test/http/hold.test.ts'], {
  'the slot of a held request is taken for every try': ['    held = undefined;\n', ''],
  'a held request takes another slot': [
    'held ?? (await ports.queue.take(choice, life.signal))',
    'await ports.queue.take(choice, life.signal)',
  ],
});

const HERE: readonly Mutant[] = mutantsOf('src/http/hold-here.ts', HTTP_TESTS, {
  'a silent request is cut by the idle timeout': ['  connection.allowSilence();\n', ''],
  'the idle timeout stays off': ['  connection.endSilence();\n', ''],
  'a held body keeps others out': ['ports.bodies.budget.setAside(record)', 'record.bodyBytes'],
  'a held body is forgotten': ['    ports.bodies.budget.takeBack(record, bodyBytes);\n', ''],
  'a second body is not counted': ['bytes: bodyBytes + copiedBytes(asked)', 'bytes: bodyBytes'],
  'the client is not told how long it waited': [
    "    response.headers.append('server-timing', `hold;dur=${Math.round(heldMs)}`);\n",
    '',
  ],
  'a revoked key keeps the slot': ["  if (end.kind === 'ready') end.held?.seat.release();\n", ''],
  'a revoked key is served': ["return revoked ?? { outcome: 'served'", "return { outcome: 'served'"],
  'a revoked key is redirected': ['return revoked ?? sequelOfMap', 'return sequelOfMap'],
  'a key that may not use the model any more is served': [
    'return mayUseModel(caller, model) ? undefined : ',
    'return caller ? undefined : ',
  ],
  'a request that goes to a sibling is charged': ['  giveBack();\n', ''],
  'the provider is not asked': ['if (hasLastResort)', 'if (false)'],
  'a provider is asked that there is not': ['if (hasLastResort)', 'if (true)'],
  'the end of a hold says nothing of when to ask again': ['retryAfterS: ASLEEP_RETRY_S', 'retryAfterS: undefined'],
});

const WAIT: readonly Mutant[] = mutantsOf('src/http/max-wait.ts', ['test/http/max-wait.test.ts'], {
  'a wait below zero is taken': ['duration.value >= 0n && ', ''],
  'a wait of more than an hour is taken': [' && duration.value <= BigInt(MOST_MS) * 1_000_000n', ''],
});

const WAKE: readonly Mutant[] = mutantsOf('src/hold/wake-webhook.ts', ['test/hold/wake-webhook.test.ts'], {
  'two calls of a model are under way': ['    if (this.#underWay.has(model)) return false;\n', ''],
  'a model is called once only': ['      this.#underWay.delete(model);\n', ''],
  'a hanging call hangs for ever': [
    'timers.after(CALL_TIMEOUT_MS, () => aborter.abort())',
    'timers.after(CALL_TIMEOUT_MS, () => undefined)',
  ],
  'a 500 is no failure': ['answer.ok ? undefined', 'true ? undefined'],
  'a stop is a failure': [' && aborter.signal.reason !== STOPPED', ''],
  'the timer of a call stays': ['      cancelTimeout();\n', ''],
  'the rest of an answer is left open': ['      await answer.body?.cancel();\n', ''],
  'another text is signed': ['.update(body)', '.update(this.#target.url)'],
});

const AGENTS: readonly Mutant[] = mutantsOf('src/agents/probe.ts', ['test/agents'], {
  'a held request has no engine probed closely': [' || (isAwaited() && agent.mayServeMore)', ''],
  'every agent is probed closely': ['isAwaited() && agent.mayServeMore', 'isAwaited()'],
  'a held request needs two good probes': ['agent.reportProbe(result, isAwaited())', 'agent.reportProbe(result)'],
});

export const HOLDING: readonly Mutant[] = [...BUDGET, ...HOLD, ...LINE, ...SEAT, ...HERE, ...WAIT, ...WAKE, ...AGENTS];
