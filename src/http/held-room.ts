// The room that a held request needs at the gates of its model, beside a slot: it waits for both, so that nobody is let go
// only to be told that the gates are full (decisions.md, "Hold at zero": released as capacity allows).

import { awaitRoom, isShedding } from '../admission/gates.ts';
import type { Reservation } from '../admission/pool.ts';
import type { Pass } from '../dispatch/queue.ts';
import type { Arrival } from './entrance.ts';
import type { Measured } from './measure.ts';
import { capsOf, viewOf } from './pass-gates.ts';
import type { RouterPorts } from './router-ports.ts';
import type { ChargedRequest } from './serve-here.ts';

export class HeldRoom implements Pass {
  readonly measured: Measured;
  readonly #ports: RouterPorts;
  readonly #arrival: Arrival;
  readonly #request: ChargedRequest;
  #stopWaiting: (() => void) | undefined;
  #isAnswered = false;
  #reservation: Reservation | undefined;

  /** Asks for nothing yet: while the model sleeps, the room is another's. */
  constructor(ports: RouterPorts, arrival: Arrival, request: ChargedRequest, measured: Measured) {
    this.#ports = ports;
    this.#arrival = arrival;
    this.#request = request;
    this.measured = measured;
  }

  /** Undefined: none is held, and the gates are to judge the request. */
  get reservation(): Reservation | undefined {
    return this.#reservation;
  }

  ask(onGranted: () => void): void {
    if (this.#stopWaiting !== undefined) return;
    const { model, admitted } = this.#request;
    const request = { model, ...this.measured, key: capsOf(admitted.caller) };
    let isAsking = true;
    this.#stopWaiting = awaitRoom(
      request,
      () => this.#view(),
      this.#ports.gates,
      (room) => {
        this.#reservation = room;
        this.#isAnswered = true;
        if (!isAsking) onGranted();
      },
    );
    isAsking = false;
  }

  get isGranted(): boolean {
    return this.#isAnswered && !this.#isShed();
  }

  giveBack(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#isAnswered = false;
    this.#reservation?.release();
    this.#reservation = undefined;
  }

  #isShed(): boolean {
    const { policies } = this.#ports;
    return policies.policyFor(this.#request.model).shedIf.length > 0 && isShedding(this.#view());
  }

  #view() {
    return viewOf(this.#ports, this.#arrival.endpoint, this.#request.model);
  }
}
