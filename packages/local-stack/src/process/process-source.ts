/** Source of an operating system's data about processes. */
export interface ProcessSource {
  /**
   * Time at which a process began, without spaces: it distinguishes the process from a later one with the same id. Undefined when no such process
   * lives; one that has ended and only waits to be collected does not live.
   */
  identityOf(pid: number): string | undefined;
  /** The parent of each process. */
  parents(): ReadonlyMap<number, number>;
}
