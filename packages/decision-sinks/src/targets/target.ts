import { type SinkRecord } from '../reading/sink-record';

/** What became of records that were sent. */
export type SendOutcome =
  | { readonly kind: 'accepted' }
  /** Some were taken, others were not: positions in what was sent. */
  | {
      readonly kind: 'partly';
      /** Sending these again cannot help. */
      readonly refused: readonly { readonly at: number; readonly reason: string }[];
      /** These may be taken later. */
      readonly again: readonly number[];
      /** Whether what is refused must not be sent again in any case. Default false. */
      readonly isFinal?: boolean;
      readonly reason: string;
    }
  /** None was taken, because of what is sent; of one record it is final. `detail` is the answer's own words. */
  | { readonly kind: 'refused'; readonly reason: string; readonly detail?: string | undefined }
  /** None is known to be taken, because of the sink. */
  | {
      readonly kind: 'unavailable';
      readonly reason: string;
      readonly detail?: string | undefined;
      readonly retryAfterMs?: number | undefined;
    };

/** Where records are sent. */
export interface Target {
  /** Sends records, in its own time at most. Never rejects. Reasons name the origin of the sink and hold no payload. */
  send(records: readonly SinkRecord[], signal: AbortSignal): Promise<SendOutcome>;
  stop(): Promise<void>;
}
