// Between the last byte of a body and the first look at what it says: in which order its token and its encoding are
// judged.

import { type BodyOrder, readContent } from './body.ts';
import { type Admitted, type Arrival, type Entrance, finishEntrance, refuseBody } from './entrance.ts';
import type { ReceivedBody } from './received-body.ts';
import type { RouterPorts } from './router-ports.ts';

/** Who may go on, and what the body says. */
export interface Admission {
  readonly admitted: Admitted;
  readonly content: Uint8Array<ArrayBuffer>;
}

/**
 * The body is decoded before its token is used up, so that a bomb costs no token (D-37); but a body that the token was
 * not issued for is first of all a refused token (D-36). Throws as `refuseBody`, `readContent` and `finishEntrance` do.
 */
export function admit(
  ports: RouterPorts,
  arrival: Arrival,
  entrance: Entrance,
  { order, received }: { readonly order: BodyOrder; readonly received: ReceivedBody },
): Admission | Promise<Admission> {
  const refused = refuseBody(ports, arrival, entrance, received);
  const finish = (content: Uint8Array<ArrayBuffer>): Admission => ({
    admitted: refused ?? finishEntrance(ports, arrival, entrance),
    content,
  });
  const content = readContent(ports.bodies, order, received);
  return content instanceof Promise ? content.then(finish) : finish(content);
}
