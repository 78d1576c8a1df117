import { LaunchError } from '../launch-error';
import { isObject, type WorkspaceFile } from './workspace-files';

/** How the files of one folder become assets of a workspace. */
interface Importer {
  readonly folder: string;
  /** Fault of a file, checked before anything is sent; undefined if there is none. */
  readonly faultOf: (content: WorkspaceFile['content']) => string | undefined;
  /**
   * Writes the assets of one file, identified by their names and ids, so that a repetition creates no duplicates. Returns a description of
   * the assets written.
   */
  readonly write: (client: WorkspaceClient, content: WorkspaceFile['content']) => Promise<string>;
  /** Completes the assets of one file after those of all files of the folder have been written. */
  readonly complete?: (client: WorkspaceClient, content: WorkspaceFile['content']) => Promise<void>;
}

/** The API as an importer uses it. */
interface WorkspaceClient {
  /** Sends JSON to a path under /api/v1 and answers the body. Throws {@link LaunchError} with the API's answer if it refuses. */
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown>;
}

/** Address of a workspace, and a key with write access. */
export interface WorkspaceAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Values and rules of any size are written within this time, ms. */
const CALL_DEADLINE_MS = 60_000;
const MAX_SHOWN = 2_000;

export const createWorkspaceClient = ({ baseUrl, apiKey }: WorkspaceAddress): WorkspaceClient => ({
  send: async (method, path, body) => {
    const response = await reach(`${baseUrl}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    });
    const answer = await response.text();
    if (!response.ok) throw new LaunchError(`${response.status} ${answer.slice(0, MAX_SHOWN)}`);
    return JSON.parse(answer) as unknown; // what the API answers
  },
});

const reach = async (url: string, request: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, request);
  } catch (cause) {
    throw new LaunchError(`${new URL(url).origin} did not answer. Is the service running?`, { cause });
  }
};

/** The part of the API's context answer that an import needs. */
interface KnownContext {
  readonly id: string;
}

interface GivenRelationship {
  /** Name of the other context. */
  readonly to: string;
  readonly name: string;
}

/**
 * The body of `POST /admin/contexts`, with its `relationships`: their bodies, in which `to` names the other context. A context is
 * identified by its name. Formulas may read relationships, and those need both contexts. So contexts are written first without formulas,
 * and completed once all exist.
 */
const contexts: Importer = {
  folder: 'contexts',
  faultOf: ({ name, schema, relationships = [] }) => {
    if (typeof name !== 'string') return 'lacks the "name" of the context, by which it is found again';
    if (!isObject(schema)) return 'lacks the "schema" of the context';
    if (Array.isArray(relationships) && relationships.every(isRelationship)) return undefined;
    return 'has relationships that lack their "name" or the name of the context "to" which they lead';
  },
  write: async (client, { relationships: _later, ...body }) => {
    const name = String(body['name']);
    const schema = { ...(body['schema'] as object), derived: [] }; // checked by faultOf
    if ((await find(client, name)) === undefined) await client.send('POST', '/admin/contexts', { ...body, schema });
    return `context ${JSON.stringify(name)}`;
  },
  complete: async (client, { relationships = [], ...body }) => {
    const { id } = await mustFind(client, String(body['name']));
    const known = (await client.send('GET', `/admin/contexts/${id}/relationships`)) as {
      outgoing: readonly { name: string }[];
    }; // what the API answers
    for (const { to, ...relationship } of relationships as readonly GivenRelationship[]) {
      if (known.outgoing.some(({ name }) => name === relationship.name)) continue;
      const { id: to_context_id } = await mustFind(client, to);
      await client.send('POST', `/admin/contexts/${id}/relationships`, { ...relationship, to_context_id });
    }
    await client.send('PUT', `/admin/contexts/${id}`, body);
  },
};

const isRelationship = (given: unknown): given is GivenRelationship =>
  isObject(given) && typeof given['to'] === 'string' && typeof given['name'] === 'string';

const find = async (client: WorkspaceClient, name: string): Promise<KnownContext | undefined> => {
  const found = await client.send('GET', `/admin/contexts?name=${encodeURIComponent(name)}`);
  return (found as readonly KnownContext[])[0]; // a list, since no page was requested
};

const mustFind = async (client: WorkspaceClient, name: string): Promise<KnownContext> => {
  const found = await find(client, name);
  if (found === undefined) throw new LaunchError(`There is no context named ${JSON.stringify(name)}.`);
  return found;
};

/** The body of `PUT /objects`, whose `content` may be written as JSON rather than as text that holds JSON. */
const objects: Importer = {
  folder: 'objects',
  faultOf: ({ name, content }) => {
    if (typeof name !== 'string') return 'lacks the "name" of the object';
    return isObject(content) || typeof content === 'string' ? undefined : 'lacks the "content" of the object';
  },
  write: async (client, { content, ...rest }) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await client.send('PUT', '/objects', { ...rest, content: text });
    return `object ${JSON.stringify(rest['name'])}`;
  },
};

/** The body of `POST /values`. */
const values: Importer = {
  folder: 'values',
  faultOf: ({ values: given }) => (isObject(given) ? undefined : 'lacks its "values"'),
  write: async (client, content) => {
    const written = await client.send('POST', '/values', content);
    return `${countOf(written)} values`;
  },
};

const countOf = (written: unknown): number =>
  Array.isArray(written) ? written.length : (written as { processed: number }).processed; // a list, or a summary of many

/** Documents of rules or flows are identified by their ids, so that each import updates the existing ones. */
const documents = (kind: 'rule' | 'flow', defaults: object): Importer => ({
  folder: `${kind}s`,
  faultOf: ({ [kind]: document }) => {
    if (!isObject(document)) return `lacks its "${kind}"`;
    return typeof document['id'] === 'string' ? undefined : `lacks the "id" of the ${kind}, by which it is found again`;
  },
  write: async (client, { [kind]: document }) => {
    const body = { [kind]: { ...defaults, ...(document as object) } }; // checked by faultOf
    const { slug } = (await client.send('POST', `/admin/${kind}s/import`, body)) as { slug: string }; // what imports answer
    return `${kind} ${slug}`;
  },
});

/** The body of `POST /admin/rules/import`. It is published, each time as a new version, unless it says `"_publish": false`. */
const rules = documents('rule', { _publish: true });

/** The body of `POST /admin/flows/import`, which publishes a flow unless it says `"_publish": false`. */
const flows = documents('flow', {});

/** Every folder that a workspace can have, in dependency order of its assets. */
export const importers: readonly Importer[] = [objects, values, contexts, rules, flows];
