'use strict';

/*
 * Loaded into a process before everything else (`node --require`).
 * DISK_DEATH=<call>:<number>:<before|after> kills the process at that call of link or rename, once: DISK_MARK names a file that then stands.
 * While the file DISK_FULL exists, copies stop half-way, as on a disk that is full.
 */
const fs = require('node:fs');
const { DISK_DEATH, DISK_MARK, DISK_FULL } = process.env;
const calls = fs.promises;

if (DISK_DEATH !== undefined && !fs.existsSync(DISK_MARK)) {
  const [name, number, when] = DISK_DEATH.split(':');
  const real = calls[name];
  let left = Number(number);
  const die = () => {
    fs.writeFileSync(DISK_MARK, '');
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => undefined);
  };
  calls[name] = async (from, to) => {
    left -= 1;
    if (left === 0 && when === 'before') return die();
    await real(from, to);
    return left === 0 ? die() : undefined;
  };
}

if (DISK_FULL !== undefined) {
  const real = calls.copyFile;
  calls.copyFile = async (from, to) => {
    if (!fs.existsSync(DISK_FULL)) return real(from, to);
    const bytes = fs.readFileSync(from);
    fs.writeFileSync(to, bytes.subarray(0, bytes.length / 2));
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
}
