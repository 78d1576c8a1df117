import { readdirSync, readFileSync } from 'node:fs';
import { type ServiceName } from '@decision/contracts';
import { BenchmarkError } from './benchmark-error';
import { type ServiceUnderTest } from './service-under-test';

/** The first process of a service. */
export const processOf = (
  { fleet }: ServiceUnderTest,
  name: ServiceName,
): { readonly url: string; readonly pid: number } => {
  const service = fleet.services.get(name);
  const pid = service?.pid();
  if (service === undefined || pid === undefined) throw new BenchmarkError(`There is no process of ${name}.`);
  return { url: service.url, pid };
};

/** Bytes of memory that a process uses. */
export const heldBy = (pid: number): number => {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readProcess(pid, 'status'));
  if (found === null) throw new BenchmarkError('The memory of processes is read from /proc, which is not here.');
  return Number(found[1]) * 1_024;
};

/** A process and its child processes. */
export const familyOf = (pid: number): readonly number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(fieldsOf(Number(name))[1]) }));
  const family = [pid];
  for (const member of family) family.push(...parents.filter(({ parent }) => parent === member).map((one) => one.pid));
  return family;
};

/** The kernel counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Seconds of processor time that a process has used; 0 if it has ended. */
export const processorSeconds = (pid: number): number => {
  const fields = fieldsOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
};

/** System calls that read or wrote (files and sockets) of a process so far. */
export const readsAndWrites = (pid: number): number => {
  const counted = readProcess(pid, 'io');
  return Number(/^syscr: (\d+)$/m.exec(counted)?.[1] ?? 0) + Number(/^syscw: (\d+)$/m.exec(counted)?.[1] ?? 0);
};

/** The fields after the name of the program in `stat`: state, parent, ... */
const fieldsOf = (pid: number): readonly string[] => {
  const stat = readProcess(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** Empty for a process that has ended. */
const readProcess = (pid: number, file: 'io' | 'stat' | 'status'): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};
