'use strict';

/*
 * Loaded into a process before everything else (`node --require`).
 * DISK_DEATHS=<call>:<number>:<before|after>,... has each process that is started die at that call of link or rename, the first at the first of them
 * and so on: the file DISK_DEATHS_DONE gets a line for each death. While the file DISK_FULL exists, copies stop half-way, as on a disk that is full.
 */
const fs = require('node:fs');
const { DISK_DEATHS, DISK_DEATHS_DONE, DISK_FULL } = process.env;
const calls = fs.promises;

const deathAt = (place) => {
  const [name, number, when] = place.split(':');
  const real = calls[name];
  let left = Number(number);
  const die = () => {
    fs.appendFileSync(DISK_DEATHS_DONE, `${place}\n`);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => undefined);
  };
  calls[name] = async (from, to) => {
    left -= 1;
    if (left === 0 && when === 'before') return die();
    await real(from, to);
    return left === 0 ? die() : undefined;
  };
};

if (DISK_DEATHS !== undefined) {
  const done = fs.existsSync(DISK_DEATHS_DONE) ? fs.readFileSync(DISK_DEATHS_DONE, 'utf8').split('\n').length - 1 : 0;
  const place = DISK_DEATHS.split(',')[done];
  if (place !== undefined) deathAt(place);
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
