import { type SinkRecord } from '../reading/sink-record';

/** The outcome of sending records. */
export type SendOutcome =
  | { readonly kind: 'accepted' }
  /** Some were accepted, others were not: positions in the batch. */
  | {
      readonly kind: 'partly';
      /** Sending these again cannot help. */
      readonly refused: readonly { readonly at: number; readonly reason: string }[];
      /** These may be accepted later. */
      readonly again: readonly number[];
      /** Whether refused records must not be sent again in any case. Default false. */
      readonly isFinal?: boolean;
      readonly reason: string;
    }
  /** None was accepted, because of the content; for a single record this is final. `detail` is the answer's own message. */
  | { readonly kind: 'refused'; readonly reason: string; readonly detail?: string | undefined }
  /** None is known to be accepted, because of the sink. */
  | {
      readonly kind: 'unavailable';
      readonly reason: string;
      readonly detail?: string | undefined;
      readonly retryAfterMs?: number | undefined;
    };

/** The destination of records. */
export interface Target {
  /** Sends records within its own deadline. Never rejects. Reasons name the origin of the sink and contain no payload. */
  send(records: readonly SinkRecord[], signal: AbortSignal): Promise<SendOutcome>;
  stop(): Promise<void>;
}
