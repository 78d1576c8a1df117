import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceName } from '@decision/contracts';
import { isAlive } from '../local-files';

/** Addresses of services that an engineer runs by hand, read again at most once a second. */
interface RouteOverrides {
  urlOf(service: ServiceName): string | undefined;
}

const REFRESH_MS = 1_000;

/** Reads `<service>.json` files `{url, pid}`; those of dead processes are ignored. */
export const createRouteOverrides = (directory: string, now: () => number): RouteOverrides => {
  let readAt = Number.NEGATIVE_INFINITY;
  let urls = new Map<string, string>();
  return {
    urlOf: (service) => {
      if (now() - readAt >= REFRESH_MS) {
        readAt = now();
        urls = readOverrides(directory);
      }
      return urls.get(service);
    },
  };
};

const readOverrides = (directory: string): Map<string, string> => {
  const urls = new Map<string, string>();
  for (const file of listFiles(directory)) {
    const override = readOverride(join(directory, file));
    if (override && isAlive(override.pid)) urls.set(file.replace(/\.json$/, ''), override.url);
  }
  return urls;
};

const listFiles = (directory: string): string[] => {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.json'));
  } catch {
    return []; // nobody has run a service by hand yet
  }
};

const readOverride = (path: string): { url: string; pid: number } | undefined => {
  try {
    const content = JSON.parse(readFileSync(path, 'utf8')) as { url?: unknown; pid?: unknown };
    return typeof content.url === 'string' && typeof content.pid === 'number'
      ? { url: content.url, pid: content.pid }
      : undefined;
  } catch {
    return undefined; // being written, or already gone
  }
};
