interface AnswerOptions {
  /** Status; that of the operation's success where absent. */
  readonly status?: number;
  /** Headers beside those that every answer has; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answer of a handler with more than a body: another status, more headers. A `Buffer` as body is sent as it is, as JSON unless `content-type` says
 * otherwise.
 */
export class Answer<B = unknown> {
  constructor(
    readonly body: B,
    readonly options: AnswerOptions = {},
  ) {}
}
