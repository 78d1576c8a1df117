import { LaunchError } from '../launch-error';
import { type Importer, isObject } from './importer';
import { type WorkspaceClient } from './workspace-client';

/** The part of the API's answer about a context that an import needs. */
interface KnownContext {
  readonly id: string;
}

interface GivenRelationship {
  /** Name of the other context. */
  readonly to: string;
  readonly name: string;
}

/**
 * The body of `POST /admin/contexts`, with its `relationships`: bodies of theirs in which `to` names the other context. A context is found again by its
 * name. Formulas may read relationships, and those need both contexts: so contexts come first, without formulas, and are completed when all
 * of them are there.
 */
export const contexts: Importer = {
  folder: 'contexts',
  faultOf: ({ name, schema, relationships = [] }) => {
    if (typeof name !== 'string') return 'lacks the "name" of the context, by which it is found again';
    if (!isObject(schema)) return 'lacks the "schema" of the context';
    if (Array.isArray(relationships) && relationships.every(isRelationship)) return undefined;
    return 'has relationships that lack their "name" or the name of the context "to" which they lead';
  },
  write: async (client, { relationships: _later, ...body }) => {
    const name = String(body['name']);
    const schema = { ...(body['schema'] as object), derived: [] }; // as faultOf found it
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
  return (found as readonly KnownContext[])[0]; // a list, as no page was asked for
};

const mustFind = async (client: WorkspaceClient, name: string): Promise<KnownContext> => {
  const found = await find(client, name);
  if (found === undefined) throw new LaunchError(`There is no context named ${JSON.stringify(name)}.`);
  return found;
};
