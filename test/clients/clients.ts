// The clients of the matrix, as data: what each does with a redirect, with its key and with a failure (clients.md,
// sections 1 and 3), and how it runs. Those that this machine does not have say so.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { BARE_ENV, run, start } from '../support/child-process.ts';
import type { Ground } from '../support/sites.ts';
import { type CallName, SMALL_CALLS } from './calls.ts';
import { runCurl } from './curl.ts';
import { type Orders, type Outcome, runProgram } from './program.ts';

export interface Client {
  readonly name: string;
  /** Follows a 307 by itself. */
  readonly follows: boolean;
  /** Sends the key to another host too. */
  readonly keepsKey: boolean;
  /** What it starts again at the original URL, at most twice. A refused token only if `x-should-retry` moves it (E2). */
  readonly repeats: 'nothing' | 'failures' | 'failures and refused tokens';
  readonly calls: readonly CallName[];
  /** Why it cannot run here; undefined when it can. */
  readonly missing: string | undefined;
  readonly run: (orders: Orders, ground: Ground) => Promise<readonly Outcome[]>;
}

type Traits = Pick<Client, 'follows' | 'keepsKey' | 'repeats' | 'calls'>;

const FOLLOWS: Traits = { follows: true, keepsKey: false, repeats: 'nothing', calls: SMALL_CALLS };
const STAYS: Traits = { ...FOLLOWS, follows: false };
const OPENAI: Traits = {
  ...FOLLOWS,
  repeats: 'failures and refused tokens',
  calls: ['chat', 'streamed chat', 'embeddings', 'rerank'],
};
const ANTHROPIC: Traits = {
  ...OPENAI,
  calls: ['messages', 'beta messages', 'streamed messages', 'count tokens'],
};
const AI: Traits = { ...FOLLOWS, repeats: 'failures', calls: ['chat', 'streamed chat', 'embeddings'] };

const script = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

const [nodeMajor, python, go] = await Promise.all([findNodeMajor(), findPython(), buildGo()]);
const noCurl = (await canRun(['curl', '--version'])) ? undefined : 'no curl';
const noPackage = await Promise.all(['requests', 'httpx'].map(missingInPython));

export const CLIENTS: readonly Client[] = [
  curl('curl', [], STAYS),
  curl('curl -L', ['-L'], FOLLOWS),
  curl('curl -L --location-trusted', ['-L', '--location-trusted'], { ...FOLLOWS, keepsKey: true }),
  onBun('fetch', ['fetch.mjs'], FOLLOWS),
  onBun('openai', ['openai.mjs'], OPENAI),
  onBun('anthropic', ['anthropic.mjs'], ANTHROPIC),
  onBun('anthropic with x-api-key', ['anthropic.mjs', 'x-api-key'], { ...ANTHROPIC, keepsKey: true }),
  onBun('ai', ['ai.mjs'], AI),
  onNode('fetch', ['fetch.mjs'], FOLLOWS),
  onNode('openai', ['openai.mjs'], OPENAI),
  onNode('anthropic', ['anthropic.mjs'], ANTHROPIC),
  onNode('anthropic with x-api-key', ['anthropic.mjs', 'x-api-key'], { ...ANTHROPIC, keepsKey: true }),
  onNode('ai', ['ai.mjs'], AI, 22),
  inPython('urllib', STAYS),
  inPython('http.client', STAYS),
  inPython('requests', FOLLOWS, noPackage[0]),
  inPython('httpx', FOLLOWS, noPackage[1]),
  program('Go net/http', [go.program], FOLLOWS, go.missing),
];

function program(name: string, command: readonly string[], traits: Traits, missing?: string): Client {
  return { name, ...traits, missing, run: (orders, ground) => runProgram(command, orders, ground) };
}

function curl(name: string, flags: readonly string[], traits: Traits): Client {
  const calls: Traits['calls'] = [...SMALL_CALLS, 'chat of 2 MB'];
  return { name, ...traits, calls, missing: noCurl, run: (orders, ground) => runCurl(flags, orders, ground) };
}

function onBun(name: string, [file = '', ...args]: readonly string[], traits: Traits): Client {
  return program(`${name} on Bun`, [process.execPath, script(file), ...args], traits);
}

function onNode(name: string, [file = '', ...args]: readonly string[], traits: Traits, major = 20): Client {
  const command = ['node', '--import', script('localhost.mjs'), script(file), ...args];
  return program(`${name} on Node`, command, traits, nodeMajor >= major ? undefined : `no Node from ${major} on`);
}

function inPython(name: string, traits: Traits, missing = python.missing): Client {
  return program(`Python ${name}`, [python.program, script('client.py'), name], traits, missing);
}

async function canRun(command: readonly string[]): Promise<boolean> {
  return (await run(command).catch(() => undefined))?.code === 0;
}

/** 0 without Node. */
async function findNodeMajor(): Promise<number> {
  const found = await run(['node', '--version']).catch(() => undefined);
  return Number(/^v(\d+)\./.exec(found?.stdout[0] ?? '')?.[1] ?? 0);
}

/** The interpreter itself: what PATH names may be a script that needs the user's home. */
async function findPython(): Promise<{ program: string; missing: string | undefined }> {
  const ask = ['python3', '-c', 'import sys; print(sys.executable)'];
  const found = await run(ask, { ...process.env } as Record<string, string>).catch(() => undefined);
  const [path] = found?.stdout ?? [];
  return path === undefined ? { program: '', missing: 'no python3' } : { program: path, missing: undefined };
}

async function missingInPython(name: string): Promise<string | undefined> {
  if (python.missing !== undefined) return python.missing;
  return (await canRun([python.program, '-c', `import ${name}`])) ? undefined : `python3 has no ${name}`;
}

/** Compiled once, by the user's own Go and into the user's own build cache: without that it takes 15 s. */
async function buildGo(): Promise<{ program: string; missing: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'hivenet-router-go-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'client');
  const env = { ...BARE_ENV, ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local' } as Record<string, string>;
  const code = await start(['go', 'build', '-o', path, script('client.go')], env).ended.catch(() => undefined);
  return { program: path, missing: code === 0 ? undefined : 'no Go that builds the client' };
}
