// `/admin/models`: the models as `/v1/models` lists them, for whoever may use all of them.

import type { Handler } from 'hono';
import { listFor, readFor } from '../models.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';

const mayUseAll = () => true;

export function listAllModels(ports: RouterPorts): Handler<RouterEnv> {
  return (c) => listFor(ports, c, mayUseAll);
}

export function readAnyModel(ports: RouterPorts): Handler<RouterEnv, '/admin/models/:id{.+}'> {
  return (c) => readFor(ports, mayUseAll, c.req.param('id'));
}
