import { isJsonObject } from './json-object';
import { ContentFault } from './parsed-content';

/**
 * Target of a `$ref` within its document. Only JSON pointers are followed: nothing is ever fetched. Throws a {@link ContentFault} at `path` for
 * anything else.
 */
export const resolveReference = (document: unknown, reference: string, path: string): unknown => {
  if (!reference.startsWith('#')) {
    throw new ContentFault(path, `"${shown(reference)}" refers to another document; references are never fetched.`);
  }
  const pointer = decodePointer(reference.slice(1));
  if (pointer === undefined || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new ContentFault(path, `"${shown(reference)}" is no JSON pointer; write it like "#/$defs/name".`);
  }
  let target: unknown = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    target = childOf(target, key);
    if (target === undefined) throw new ContentFault(path, `"${shown(reference)}" names nothing in this document.`);
  }
  return target;
};

const childOf = (parent: unknown, key: string): unknown => {
  if (Array.isArray(parent)) return /^(?:0|[1-9]\d{0,9})$/.test(key) ? (parent[Number(key)] as unknown) : undefined; // elements are unknown
  return isJsonObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
};

const decodePointer = (fragment: string): string | undefined => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
};

const shown = (reference: string): string => (reference.length > 200 ? `${reference.slice(0, 200)}...` : reference);
