import { hashOfKey } from '@decision/broker';

/**
 * Instances of a context share this many keys. One key for each instance would make each a message of its own; with these, all operations of an
 * instance still come one after the other through one partition, and this many workers can be busy with one context.
 */
export const KEYS_OF_A_CONTEXT = 16;

/** Which of the keys of its context an instance has. */
export const keyNumberOf = (instanceId: string): number => hashOfKey(instanceId) % KEYS_OF_A_CONTEXT;

export const messageKey = (contextId: string, instanceId: string): string => `${contextId}/${keyNumberOf(instanceId)}`;
