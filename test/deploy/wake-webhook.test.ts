// deploy/examples/wake-webhook.mjs, as an operator would run it.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BARE_ENV, type RunningProcess, start } from '../support/child-process.ts';
import { createGround, type Ground } from '../support/sites.ts';

const SCRIPT = fileURLToPath(new URL('../../deploy/examples/wake-webhook.mjs', import.meta.url));
const SECRET = '0123456789abcdef0123456789abcdef';
/** Says that it runs, and runs until it is killed. */
const COMMAND = [process.execPath, '-e', 'console.log("started"); setInterval(() => undefined, 1000)'];

let ground: Ground;
let receiver: RunningProcess;
let url: string;

before(async () => {
  ground = await createGround();
  const file = ground.write('wake-secret', `${SECRET}\n`);
  receiver = start([process.execPath, SCRIPT, '127.0.0.1:0', file, 'm', ...COMMAND], BARE_ENV);
  const line = await receiver.line((text) => text.startsWith('listening wake-webhook '));
  url = line.slice('listening wake-webhook '.length);
});

after(async () => {
  await receiver.stop();
  ground.remove();
});

async function call(model: string, secret = SECRET): Promise<number> {
  return post(
    JSON.stringify({ site: 'site-fr-1', model, kind: 'chat', held: 1, since: '2026-11-30T12:00:00.000Z' }),
    secret,
  );
}

async function post(body: string, secret: string): Promise<number> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return (await fetch(url, { method: 'POST', body, headers: { 'x-hivenet-signature': signature } })).status;
}

describe('the example of a webhook', () => {
  it('starts nothing for who has not signed, nor for another model', async () => {
    assert.equal(await call('m', `${SECRET}!`), 401);
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);
    assert.equal(await call('other'), 404);
    assert.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(65_537) })).status, 413);
    assert.ok(!receiver.stdout.includes('started'));
  });

  it('lives on when a client breaks off its body, or signs what is no JSON', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    socket.resetAndDestroy();
    await once(socket, 'close');
    for (const body of ['no JSON', 'null']) {
      const status = await post(body, SECRET);
      assert.equal(status, body === 'null' ? 404 : 400);
    }
  });

  it('says why it does not start: a taken address, a secret that is none', async () => {
    const taken = start(
      [process.execPath, SCRIPT, new URL(url).host, ground.write('other', SECRET), 'm', 'x'],
      BARE_ENV,
    );
    assert.equal(await taken.ended, 1);
    assert.match(taken.stderr.join(), /^Cannot listen on 127\.0\.0\.1:\d+: /);
    const open = start([process.execPath, SCRIPT, '127.0.0.1:0', ground.write('empty', '\n'), 'm', 'x'], BARE_ENV);
    assert.equal(await open.ended, 1);
  });

  it('starts its command for the model, and not a second one while that runs', async () => {
    assert.equal(await call('m'), 202);
    await receiver.line((line) => line === 'started');
    assert.equal(await call('m'), 202);
    assert.equal(receiver.stdout.filter((line) => line.startsWith('1 waiting for m at site-fr-1')).length, 1);
  });
});
