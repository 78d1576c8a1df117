import { createHash } from 'node:crypto';
import { type SubscribedMessage } from '@decision/broker';

/** The messages of a partition that make objects together: from the first offset to the one before `to`. */
export interface Boundary {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  /** Of the first message: offsets of a topic that was made anew mean others. */
  readonly digest: string;
  /** Bytes of the messages. */
  readonly bytes: number;
}

/** Where a boundary begins: what it is found by. */
export type BoundaryStart = Omit<Boundary, 'to' | 'bytes'>;

/** Tells messages apart that have one offset of two topics of the same name. */
export const digestOf = ({ value, writtenAt }: SubscribedMessage): string =>
  createHash('sha256')
    .update(`${writtenAt}:`)
    .update(value ?? '')
    .digest('hex')
    .slice(0, 16);

/** Digits of an offset in names. */
const OFFSET_DIGITS = 19;

/** Name of what begins with a message: the same for everybody who reads it. */
export const nameOfStart = ({ topic, partition, from, digest }: BoundaryStart): string =>
  `${topic}/partition=${partition}/${String(from).padStart(OFFSET_DIGITS, '0')}-${digest}`;
