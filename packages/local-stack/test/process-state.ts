import { identityOf } from '../src/process/process-table';

export const isAlive = (pid: number): boolean => identityOf(pid) !== undefined;
