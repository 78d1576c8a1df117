import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ServiceName } from '@decision/contracts';
import { ensureAdminKey } from '@decision/launcher';
import { testStack } from '@decision/local-stack';
import { ensureWorkspace } from '@decision/persistence';
import { type Call, callWith } from './fleet-under-test';

/** A workspace of the fleet that all plain test files of a run share. Tests must not stop its processes or add others. */
export interface SharedFleet {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  readonly call: Call;
  /** The address of a service itself, without the ingress. */
  urlOf(service: ServiceName): string;
}

interface Location {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
}

/** The host's message to a connection: the location of the fleet, or the reason why there is none. */
export type SharedFleetAnswer = Location | { readonly refusal: string };

/** The workspace with the examples. Other files use it at the same time: everything created in it needs a unique name. */
export const enterExampleWorkspace = async (): Promise<SharedFleet> => enter(await locate());

/** An empty workspace that nobody else uses. */
export const enterOwnWorkspace = async (): Promise<SharedFleet> => {
  const location = await locate();
  const slug = testStack().uniqueName('own');
  const { id } = await ensureWorkspace(location.databaseUrl, { slug, name: slug });
  return enter({ ...location, apiKey: await ensureAdminKey(location.databaseUrl, id, undefined) });
};

const enter = ({ urls, ...location }: Location): SharedFleet => ({
  ...location,
  call: callWith(location),
  urlOf: (service) => {
    const url = urls[service];
    if (url === undefined) throw new Error(`The shared fleet has no ${service}.`);
    return url;
  },
});

/** Waits until the fleet runs; the first caller starts it. */
const locate = async (): Promise<Location> => {
  const answer = JSON.parse(await text(connect(process.env['SHARED_FLEET'] ?? ''))) as SharedFleetAnswer; // sent by the host
  if ('refusal' in answer) throw new Error(answer.refusal);
  return answer;
};
