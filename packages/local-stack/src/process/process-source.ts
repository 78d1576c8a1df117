/** Where an operating system tells about its processes. */
export interface ProcessSource {
  /**
   * What distinguishes a process from a later one with the same id: when it began; without spaces. Undefined when no such
   * process lives; one that has ended and only waits to be collected does not live.
   */
  identityOf(pid: number): string | undefined;
  /** The parent of each process. */
  parents(): ReadonlyMap<number, number>;
}
