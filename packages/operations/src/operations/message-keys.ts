import { hashOfKey } from '@decision/broker';

/**
 * Number of message keys that the instances of a context share. One key per instance would make one message per instance; with shared keys,
 * all operations of an instance still go in order through one partition, and this many workers can be busy with one context.
 */
export const KEYS_OF_A_CONTEXT = 16;

/** The message key of an instance within its context. */
export const keyNumberOf = (instanceId: string): number => hashOfKey(instanceId) % KEYS_OF_A_CONTEXT;

export const messageKey = (contextId: string, instanceId: string): string => `${contextId}/${keyNumberOf(instanceId)}`;
