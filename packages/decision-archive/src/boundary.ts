import { createHash } from 'node:crypto';
import { type SubscribedMessage } from '@decision/broker';

/** The messages of a partition that become objects together: from the first offset to the one before `to`. */
export interface Boundary {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  /** Timestamp of the first message: in a topic that was recreated the same offsets are other messages. */
  readonly digest: string;
  /** Bytes of the messages. */
  readonly bytes: number;
}

/** The start of a boundary, by which it is found. */
export type BoundaryStart = Omit<Boundary, 'to' | 'bytes'>;

/** Distinguishes messages with the same offset in two successive topics of one name. */
export const digestOf = ({ value, writtenAt }: SubscribedMessage): string =>
  createHash('sha256')
    .update(`${writtenAt}:`)
    .update(value ?? '')
    .digest('hex')
    .slice(0, 16);

/** Digits of an offset in names. */
const OFFSET_DIGITS = 19;

/** Name derived from the first message, so that every reader of it uses the same one. */
export const nameOfStart = ({ topic, partition, from, digest }: BoundaryStart): string =>
  `${topic}/partition=${partition}/${String(from).padStart(OFFSET_DIGITS, '0')}-${digest}`;
