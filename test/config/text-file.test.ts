import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { listDirectory, readTextFile, rereadTextFile } from '../../src/config/text-file.ts';

let folder = '';

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'text-file-'));
});
after(() => rmSync(folder, { recursive: true }));

function write(content: string | Uint8Array, mode = 0o600): string {
  const path = join(folder, 'file');
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

/** A named pipe. */
function pipe(): string {
  const path = join(folder, 'pipe');
  rmSync(path, { force: true });
  assert.equal(spawnSync('mkfifo', [path]).status, 0);
  return path;
}

describe('readTextFile()', () => {
  it('reads text as it is, with the permission bits', () => {
    const text = '\u{FEFF}k1:é\r\n\n';
    for (const mode of [0o600, 0o644])
      assert.deepEqual(readTextFile(write(text, mode)), { ok: true, value: { text, mode } });
    assert.deepEqual(readTextFile(write('')), { ok: true, value: { text: '', mode: 0o600 } });
  });

  it('takes 1 MiB and refuses a byte more', () => {
    assert.ok(readTextFile(write(new Uint8Array(1_048_576))).ok);
    assert.deepEqual(readTextFile(write(new Uint8Array(1_048_577))), { ok: false, fault: 'more than 1 MiB' });
  });

  it('refuses bytes that are not UTF-8', () => {
    assert.deepEqual(readTextFile(write(new Uint8Array([0x6b, 0xff]))), { ok: false, fault: 'not UTF-8 text' });
  });

  it('says in words why a path cannot be read', () => {
    assert.deepEqual(readTextFile(join(folder, 'none')), { ok: false, fault: 'no such file' });
    assert.deepEqual(readTextFile(folder), { ok: false, fault: 'it is a directory' });
    assert.deepEqual(readTextFile(join(write(''), 'x')), { ok: false, fault: 'ENOTDIR' });
    assert.ok(!readTextFile('a\0b').ok);
  });
});

describe('readTextFile() and rereadTextFile()', () => {
  it('read a regular file alike', () => {
    const path = write('k1:é', 0o640);
    assert.deepEqual(rereadTextFile(path), { ok: true, value: { text: 'k1:é', mode: 0o640 } });
    assert.deepEqual(rereadTextFile(path), readTextFile(path));
    assert.deepEqual(rereadTextFile(join(folder, 'none')), { ok: false, fault: 'no such file' });
  });

  it('wait for a pipe at the start, and refuse it later instead of holding up the router', () => {
    const path = pipe();
    assert.deepEqual(rereadTextFile(path), { ok: false, fault: 'not a regular file' });
    const writer = spawn('sh', ['-c', 'printf k1:pipe > "$0"', path]);
    const read = readTextFile(path);
    assert.equal(read.ok && read.value.text, 'k1:pipe');
    writer.unref();
  });

  it('refuse a device later, whose end never comes', () => {
    assert.deepEqual(rereadTextFile('/dev/zero'), { ok: false, fault: 'not a regular file' });
  });
});

describe('listDirectory()', () => {
  it('gives the names in a directory, sorted, and says in words why it cannot', () => {
    const folder = mkdtempSync(join(tmpdir(), 'list-directory-'));
    try {
      assert.deepEqual(listDirectory(folder), { ok: true, value: [] });
      for (const name of ['b.yaml', 'a.yaml', '.c']) writeFileSync(join(folder, name), '');
      assert.deepEqual(listDirectory(folder), { ok: true, value: ['.c', 'a.yaml', 'b.yaml'] });
      assert.deepEqual(listDirectory(join(folder, 'none')), { ok: false, fault: 'no such file' });
      assert.deepEqual(listDirectory(join(folder, 'a.yaml')), { ok: false, fault: 'it is no directory' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
