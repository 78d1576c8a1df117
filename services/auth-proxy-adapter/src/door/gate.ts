import { type IncomingMessage } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { pathOf } from './route';

/** Sees every request first, and throws if it must not go on. */
type Gate = (request: IncomingMessage) => void;

/** Paths of probes, which answer even with an incomplete configuration. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready']);

/** Refuses every request but probes while variables are missing, naming them. */
export const requireVariables = (missing: readonly string[]): Gate => {
  const sentence = `Token passthrough is enabled but required env vars are missing: ${missing.join(', ')}`;
  return (request) => {
    if (missing.length === 0 || PROBES.has(pathOf(request.url ?? '/'))) return;
    throw new ServiceError('passthrough_incomplete', sentence, { missing });
  };
};
