// Requests that wait for their model to wake: who may, for how long, in which order, and what ends the wait (R-030, R-031,
//

import { type Mutant, mutantsOf } from '../mutant.ts';

const HTTP_TESTS = ['', '-changes', '-charge', '-gates', '-provider', '-unreached'].map(
  (part) => `test/http/hold${part}.test.ts`,
);
const QUEUE_TESTS = ['test/hold', ...HTTP_TESTS];

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
  'a new map ends nothing': ["else if (!this.#isAwake(waiting.request)) waiting.end({ kind: 'unplaced' });", ''],
  'a new map ends also who waits for a slot': ['else if (!this.#isAwake(waiting.request))', 'else if (true)'],
  'each new map begins the wait for a slot anew': ['else if (!wasQueued)', 'else'],
  'who waits for a slot waits for an agent that is gone': ['      this.#endStranded(queued);\n', ''],
  'who waited for a slot is told that its model sleeps': ["waiting.isQueued ? 'overdue' : 'timeout'", "'timeout'"],
  'a model is called for that nobody starts': ['if (queued.length < held.size) wake', 'wake'],
  'a second hold has its whole time': ['request.since?.startedMs ?? nowMs', 'nowMs'],
  'a second hold without time waits for the next tick': [
    "    if (nowMs >= startedMs + budgetMs) return { kind: 'timeout' };\n",
    '',
  ],
  'a second hold stands last in the line': ['place: request.since?.place', 'place: undefined'],
  'an agent that came meanwhile is not seen': ['    this.#ports.seats.offer(choice);\n', ''],
  'gates are not waited for': ['      pass: request.room,\n', ''],
  'a model that has woken is not called for at once': ["        if (end.kind === 'ready') line.wake.woken();\n", ''],
  'an agent that was none makes the next wait a new one': ['since !== undefined', 'false'],
  'a new budget counts from the new map on': [
    'waiting.deadlineMs = waiting.startedMs + budgetMs',
    'waiting.deadlineMs = this.#ports.timers.monotonicMs() + budgetMs',
  ],
  'a new budget does not count': [
    'if (!waiting.isQueued) waiting.deadlineMs = waiting.startedMs + budgetMs;\n    else',
    'if (waiting.isQueued)',
  ],
  'a hold has no end': ['if (nowMs >= waiting.deadlineMs)', 'if (false)'],
  'a client that leaves is not noticed': ["    request.clientGone.addEventListener('abort', leave);\n", ''],
  'listeners stay behind': ["        request.clientGone.removeEventListener('abort', leave);\n", ''],
  'who has gone still waits for a slot': ['        stopWaiting();\n', ''],
  'the timer goes on for ever': ['    this.#stopTicking?.();\n', ''],
  'nobody is told that a model is wanted': [
    '    if (held.size === 1) wake.look(this.#ports.timers.monotonicMs(), 1);\n',
    '',
  ],
  'nobody is told again': [' wake.look(nowMs, held.size - queued.length);', ' void 0;'],
  'nobody is told that it is no longer': ['    wake.end(this.#ports.timers.monotonicMs());\n', ''],
});

const LINE: readonly Mutant[] = mutantsOf('src/dispatch/queue.ts', ['test/dispatch', 'test/hold'], {
  'held requests take the room of those who queue': ['if (!isHeld) count += 1', 'count += 1'],
  'held requests are sent away with the others': ['.filter(({ isHeld }) => !isHeld)', ''],
  'a held request that no agent may take waits on': ['[...lost, ...this.#waiters(isServed)]', 'lost'],
  'those in other lines are looked at': ['isMeant(first.search)', 'true'],
  'the last one is served first': ['.sort((a, b) => a.place - b.place)', '.sort((a, b) => b.place - a.place)'],
  'a slot goes to who has no pass': ['pass?.isGranted !== false && search', 'search'],
  'a slot goes to who has no pass, a second later': ["pass?.isGranted === false ? 'full' : ", ''],
  'a pass is asked for while nobody is there': ["if (agent.state === 'healthy') for", 'for'],
  'a pass is kept while nobody is there': ['    for (const { pass } of asleep) pass?.giveBack();\n', ''],
  'who is granted a pass is forgotten': ['pass?.ask(() => this.offer(search))', 'pass?.ask(() => undefined)'],
});

const SEAT: readonly Mutant[] = mutantsOf('src/dispatch/dispatch.ts', ['test/dispatch', 'test/http/hold.test.ts'], {
  'the slot of a held request is taken for every try': ['    held = undefined;\n', ''],
  'a second try by an agent that refused is sent to it': [
    "    if (attempt.kind === 'refused') agent.reportConnectionRefused(attempt.reason);\n",
    '',
  ],
  'who had an engine is decided again': ['      isReached = true;\n', ''],
  'who has left is decided again': ['!isReached && life.cut === undefined && ', '!isReached && '],
  'a held request takes another slot': [
    'held ?? ports.queue.take(choice, life.signal)',
    'ports.queue.take(choice, life.signal)',
  ],
});

const HERE: readonly Mutant[] = mutantsOf('src/http/hold-here.ts', HTTP_TESTS, {
  'a silent request is cut by the idle timeout': ['  connection.allowSilence();\n', ''],
  'the idle timeout stays off': ['  connection.endSilence();\n', ''],
  'a held body keeps others out': ['ports.bodies.budget.setAside(record)', 'record.bodyBytes'],
  'a held body is forgotten': ['    ports.bodies.budget.takeBack(record, bodyBytes);\n', ''],
  'a second body is not counted': ['bytes: bodyBytes + copiedBytes(asked)', 'bytes: bodyBytes'],
  'who goes to a provider waits for room': ["  if (end.kind !== 'ready') room?.giveBack();\n", ''],
  'a revoked key keeps its room': ['  room?.giveBack();\n  if', '  if'],
  'a revoked key is its provider’s': ['if (hasLastResort) return revoked ?? {', 'if (hasLastResort) return {'],
  'an encoded body under an alias counts twice': ['received.encoding !== undefined || ', ''],
  'busy agents are said to sleep': [
    "presence(model, endpoint.capability) === 'healthy'",
    "presence(model, endpoint.capability) === 'none'",
  ],
  'a second hold forgets the first': ['(record.holdMs ?? 0) + heldMs', 'heldMs'],
  'an answer of no time left is decided again': ["end.kind !== 'timeout'", 'true'],
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

const STAY: readonly Mutant[] = mutantsOf('src/http/stay-here.ts', HTTP_TESTS, {
  'nothing is decided again': ['ports.redirect !== undefined', 'false'],
  'the Go router’s requests are decided again': ['ports.redirect !== undefined', 'true'],
  'a request that goes to a sibling after all is charged': ['      staying.giveBack();\n', ''],
  'the silence of what is decided again stays allowed': ['    connection.endSilence();\n', ''],
  'each hold is the first': ["    if (stayed !== 'unreached') since = stayed;\n", ''],
});

const SERVE: readonly Mutant[] = mutantsOf('src/http/serve-here.ts', HTTP_TESTS, {
  'the client is not told how long it waited': ['if (holdMs !== undefined) response', 'if (false) response'],
  'what is decided again keeps its tokens': ['    dues.giveBack();\n', ''],
  'the room of who is refused is kept': ['    client.room?.giveBack();\n', ''],
});

const ROOM: readonly Mutant[] = [
  ...mutantsOf('src/http/held-room.ts', HTTP_TESTS, {
    'a shed rule keeps nobody out who was held': ['this.#isAnswered && !this.#isShed()', 'this.#isAnswered'],
    'room is granted before it is there': ['this.#isAnswered && !', '!'],
    'nobody is told that there is room': ['      if (!isAsking) onGranted();\n', ''],
    'room is never given back': ['    this.#reservation?.release();\n', ''],
    'who has gone waits for room': ['    this.#stopWaiting?.();\n', ''],
  }),
  ...mutantsOf('src/admission/occupancy.ts', ['test/admission'], {
    'a held request gets by who parks': [
      '    door.line.add(waiter);\n    this.#letIn(door);\n    return',
      '    leave(this.#settle(door, entry, this.#verdict(door, entry)));\n    return',
    ],
    'who stops waiting keeps others from room': [
      'if (door.line.delete(waiter)) this.#letIn(door);\n    };\n  }',
      'door.line.delete(waiter);\n    };\n  }',
    ],
  }),
  ...mutantsOf('src/admission/gates.ts', ['test/http/hold-gates.test.ts'], {
    'room is taken twice': [
      'room === undefined ? await enterPool(request, caps, view, ports) : ok(room)',
      'await enterPool(request, caps, view, ports)',
    ],
  }),
];

const SAID: readonly Mutant[] = mutantsOf('src/hold/wake.ts', ['test/hold'], {
  'clients that come and go make words': ['    this.#said.keep(this.#model.model, this.#due, nowMs);\n', ''],
  'the end is told that had no beginning': ['if (this.#isAnnounced) this', 'this'],
  'what is over is remembered': ['const isOver = announceAtMs <= nowMs && callAtMs <= nowMs', 'const isOver = false'],
  'half of it is forgotten': ['announceAtMs <= nowMs && callAtMs <= nowMs', 'announceAtMs <= nowMs'],
  'all models ever are remembered': [' || this.#due.size >= REMEMBERED_MAX', ''],
  'a model that has woken waits for its period': ['due.hasWoken && !isResumed', 'false'],
  'an agent that was none is a new wait': ['due.hasWoken && !isResumed', 'due.hasWoken'],
});

const STOP: readonly Mutant[] = mutantsOf('src/cli/wire-hold.ts', ['test/cli/wire-hold.test.ts'], {
  'a call goes on while the router stops': ["  stopping.addEventListener('abort', () => webhook?.stop());\n", ''],
  'holds go on while the router stops': ["  stopping.addEventListener('abort', () => holds.stop());\n", ''],
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
  'a connection is kept for ten seconds': ['keepalive: false', 'keepalive: true'],
  'another text is signed': ['.update(body)', '.update(this.#target.url)'],
});

const AGENTS: readonly Mutant[] = mutantsOf('src/agents/probe.ts', ['test/agents'], {
  'a held request has no engine probed closely': [' || (isAwaited() && agent.mayServeMore)', ''],
  'every agent is probed closely': ['(isAwaited() && agent.mayServeMore),', 'isAwaited(),'],
  'a probe that hangs keeps the next from being sent': [
    'agent.mayServeMore ? BESIDE_TIMEOUT_MS',
    'false ? BESIDE_TIMEOUT_MS',
  ],
  'nobody waits, and still more than one probe is out': ['isAwaited() && agent.mayServeMore ? B', 'true ? B'],
  'a held request needs two good probes': ['agent.reportProbe(result, isAwaited())', 'agent.reportProbe(result)'],
});

const POLLER: readonly Mutant[] = mutantsOf('src/agents/poller.ts', ['test/agents'], {
  'a failure beside the first one counts': ['if (result.ok && asking', 'if (asking'],
  'what was asked before a good answer counts after it': ['    if (result.ok) stop(turn);\n', ''],
  'what was asked beside stays out': ['  for (const asking of turn.beside) asking.abort(STOPPED);\n', ''],
});

export const HOLDING: readonly Mutant[] = [
  ...[...BUDGET, ...HOLD, ...LINE, ...SEAT, ...HERE, ...STAY, ...SERVE, ...ROOM],
  ...[...WAIT, ...SAID, ...WAKE, ...STOP, ...AGENTS, ...POLLER],
];
