'use strict';

exports.SERVERS = { mq: 'Kafka', cache: 'Redis', database: 'PostgreSQL', 'mq-bridge': 'bridge to brokers of a cloud' };

exports.STRANGERS = {
  clients: 'REST clients and people',
  ingress: 'ingress',
  outside: 'systems of others',
  keda: 'KEDA',
  prometheus: 'Prometheus',
  traces: 'collector of traces',
};

const SERVICES = ['objects-api', 'contexts-api', 'hps-gateway', 'solve-worker', 'log-collector', 'auth-proxy-adapter'];

exports.CONNECTIONS = [
  { from: ['clients'], to: ['ingress'], carries: 'HTTP' },
  { from: ['ingress'], to: ['hps-gateway'], carries: '/api/v1/solve, /api/v1/flows, /api/v1/scale' },
  { from: ['ingress'], to: ['contexts-api'], carries: '/api/v1/contexts, /api/v1/admin/contexts' },
  { from: ['ingress'], to: ['log-collector'], carries: '/api/v1/decisions' },
  { from: ['ingress'], to: ['objects-api'], carries: 'everything else under /api' },
  { from: ['ingress'], to: ['auth-proxy-adapter'], carries: '/dashboard, /auth, who is this person?' },
  {
    ...{ from: ['hps-gateway', 'contexts-api'], to: ['mq'] },
    carries: 'writes solution and logs, reads solution-response',
  },
  { from: ['solve-worker'], to: ['mq'], carries: 'reads solution, writes solution-response and logs' },
  { from: ['log-collector'], to: ['mq'], carries: 'reads logs' },
  { from: ['objects-api'], to: ['mq'], carries: 'is it there?' },
  {
    ...{ from: ['objects-api', 'contexts-api', 'auth-proxy-adapter', 'log-collector'], to: ['database'] },
    carries: 'reads and writes',
  },
  { from: ['hps-gateway'], to: ['database'], carries: 'reads on a cache miss' },
  { from: ['solve-worker'], to: ['database'], carries: 'reads on a cache miss, writes instances and usage' },
  {
    ...{ from: ['objects-api', 'contexts-api', 'hps-gateway', 'solve-worker', 'auth-proxy-adapter'], to: ['cache'] },
    carries: 'entries, service:cache:invalidate',
  },
  { from: ['objects-api', 'contexts-api', 'solve-worker'], to: ['outside'], carries: 'nodes of flows' },
  { from: ['migrations'], to: ['database'], carries: 'the schema' },
  { from: ['topics'], to: ['mq'], carries: 'the topics' },
  { from: ['keda'], to: ['mq'], carries: 'lag of solution' },
  { from: ['keda'], to: ['hps-gateway'], carries: 'metrics' },
  { from: ['tests'], to: SERVICES, carries: '/ready' },
  { from: ['prometheus'], to: SERVICES, carries: 'metrics', onlyWith: 'serviceMonitor.enabled' },
  { from: SERVICES, to: ['traces'], carries: 'spans', onlyWith: 'traces.endpoint' },
  { from: ['log-collector'], to: ['mq-bridge'], carries: 'reads logs', onlyWith: 'mqBridge.enabled' },
  { from: ['mq-bridge'], to: ['outside'], carries: 'reads logs, asks for tokens', onlyWith: 'mqBridge.enabled' },
  {
    ...{ from: ['log-collector', 'auth-proxy-adapter'], to: ['outside'] },
    ...{ carries: 'sinks, archive, mail, OpenID Connect', onlyWith: 'networkPolicy.extraEgress' },
  },
];
