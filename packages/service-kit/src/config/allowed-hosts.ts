import { list } from './setting';

/** A host, a host with its port, an address or a network. */
const TARGET = /^(?:[A-Za-z0-9._-]+(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\](?::\d{1,5})?|[0-9A-Fa-f:.]+(?:\/\d{1,3})?)$/;

/** Private targets that nodes of a type may access. */
export const allowedHosts = (env: string, kind: string) =>
  list(env, {
    default: [],
    pattern: TARGET,
    items: 'hosts, host:port pairs, addresses and networks',
    meaning: `Private targets that nodes of type ${kind} may ask, such as \`rates.internal:8443\` or \`10.1.0.0/16\`. Public addresses need no entry.`,
  });
