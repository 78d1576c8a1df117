import { CONNECTIONS, SERVERS, STRANGERS } from '@decision/tooling/connections';
import { SERVICES, type Value } from '../src/chart-values';
import { at, get, listAt, render, type Rendered, textAt, textsAt } from './render';

/** Who a component talks to by the table of the architecture, with default values and with these. */
const targetsOf = (name: string, values: readonly string[] = []): readonly string[] =>
  names(
    CONNECTIONS.filter(
      ({ from, onlyWith = '' }) => from.includes(name) && (onlyWith === '' || values.includes(onlyWith)),
    ),
    'to',
  );

/** Who talks to a component, as {@link targetsOf}. */
const sourcesOf = (name: string, values: readonly string[] = []): readonly string[] =>
  names(
    CONNECTIONS.filter(({ to, onlyWith = '' }) => to.includes(name) && (onlyWith === '' || values.includes(onlyWith))),
    'from',
  );

const names = (connections: typeof CONNECTIONS, end: 'from' | 'to'): readonly string[] =>
  [...new Set(connections.flatMap((connection) => connection[end]))].sort();

const WORLD = ['0.0.0.0/0', '::/0'];
const KEDA = 'keda-operator';

/** The component that a peer of a policy stands for; `outside` for public addresses, `keda` for its operator or its namespace. */
const partyOf = (peer: Value): readonly string[] => {
  const labels = at(peer, 'podSelector.matchLabels') as Readonly<Record<string, string>> | null; // Kubernetes takes texts alone
  const name = labels?.['app.kubernetes.io/name'];
  if (name !== undefined) return [name === KEDA ? 'keda' : name];
  const [chosen = null] = listAt(peer, 'podSelector.matchExpressions');
  if (chosen !== null) return textsAt(chosen, 'values');
  const namespace = at(peer, 'namespaceSelector.matchLabels') as Readonly<Record<string, string>> | null; // as above
  if (namespace?.['kubernetes.io/metadata.name'] === 'keda') return ['keda'];
  return WORLD.includes(textAt(peer, 'ipBlock.cidr')) ? ['outside'] : [JSON.stringify(peer)];
};

const peersOf = (objects: readonly Rendered[], name: string, direction: 'ingress' | 'egress'): readonly string[] => {
  const rules = listAt(get(objects, 'NetworkPolicy', name), `spec.${direction}`);
  return [
    ...new Set(rules.flatMap((rule) => listAt(rule, direction === 'ingress' ? 'from' : 'to').flatMap(partyOf))),
  ].sort();
};

const without = (list: readonly string[], ...left: readonly string[]): readonly string[] =>
  list.filter((name) => !left.includes(name));

it('the table of connections names components and strangers alone', () => {
  const known = [...SERVICES, ...Object.keys(SERVERS), ...Object.keys(STRANGERS), 'migrations', 'topics', 'tests'];
  const named = new Set(CONNECTIONS.flatMap(({ from, to }) => [...from, ...to]));
  expect([...named].filter((name) => !known.includes(name))).toEqual([]);
});

it.each([...SERVICES, 'migrations', 'topics', 'tests'])(
  '%s reaches what the architecture says, and nothing else',
  (name) => {
    const objects = render('minimal.yaml');
    expect(peersOf(objects, name, 'egress')).toEqual(targetsOf(name));
    const targets = listAt(get(objects, 'NetworkPolicy', name), 'spec.egress').map((rule) => listAt(rule, 'to').length);
    // DNS alone has no target.
    expect(targets.filter((count) => count === 0)).toHaveLength(1);
  },
);

it.each(['mq', 'cache', 'database'])('%s admits those who talk to it, and its own pods', (name) => {
  const objects = render('minimal.yaml');
  expect(without(peersOf(objects, name, 'ingress'), name)).toEqual(sourcesOf(name));
  expect(peersOf(objects, name, 'ingress')).toContain(name);
  expect(peersOf(objects, name, 'egress')).toEqual([name]);
});

it.each(SERVICES)('%s admits those who talk to it at their ports', (name) => {
  const peersAt = (file: string, metrics: boolean) =>
    listAt(get(render(file), 'NetworkPolicy', name), 'spec.ingress')
      .filter((rule) => listAt(rule, 'ports').some((port) => (at(port, 'port') === 9464) === metrics))
      .map((rule) => listAt(rule, 'from').flatMap(partyOf));
  // Without ingress.from every pod of the cluster may be the ingress.
  const clients = without(sourcesOf(name), 'keda');
  expect(peersAt('minimal.yaml', false)).toEqual([clients.includes('ingress') ? [] : clients]);
  expect(peersAt('minimal.yaml', true)).toEqual(sourcesOf(name).includes('keda') ? [['keda']] : []);
});

it('services admit the ingress that ingress.from names, and helm test, and no others', () => {
  const [rule = null] = listAt(get(render('external-everything.yaml'), 'NetworkPolicy', 'hps-gateway'), 'spec.ingress');
  expect(listAt(rule, 'from')).toEqual([
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'traefik' } } },
    { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'tests', 'app.kubernetes.io/instance': 'rel' } } },
  ]);
});

it.each(['aws', 'gcp'])(
  'the bridge to %s admits log-collector alone, which reaches it alone beside the database',
  (cloud) => {
    const objects = render(`bridge-${cloud}.yaml`);
    const values = ['mqBridge.enabled'];
    expect(peersOf(objects, 'mq-bridge', 'ingress')).toEqual(sourcesOf('mq-bridge', values));
    expect(peersOf(objects, 'log-collector', 'egress')).toEqual(without(targetsOf('log-collector', values), 'mq'));
    const reached = without(peersOf(objects, 'mq-bridge', 'egress'), METADATA_OF_PODS, METADATA);
    expect(reached).toEqual(targetsOf('mq-bridge', values));
  },
);

/** Where Google's workload identity is asked. */
const [METADATA_OF_PODS, METADATA] = ['169.254.169.252/32', '169.254.169.254/32'].map((cidr) =>
  JSON.stringify({ ipBlock: { cidr } }),
) as [string, string]; // two of two

it('no pod but those that run flows reaches public addresses', () => {
  const objects = render('minimal.yaml');
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(policies).toHaveLength(12);
  const outside = policies.filter((policy) => WORLD.some((cidr) => JSON.stringify(policy).includes(`"${cidr}"`)));
  expect(outside.map(({ metadata }) => metadata.name.replace('rel-', '')).sort()).toEqual(sourcesOf('outside'));
});
