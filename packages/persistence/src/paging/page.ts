/** Which part of a list is wanted. */
export interface PageRequest {
  /** Entries at most, 1 or more. */
  readonly limit: number;
  /** End of the previous page; undefined for the first. */
  readonly cursor?: string | undefined;
}
