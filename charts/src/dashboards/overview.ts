import { type Dashboard, type Row, each, quantiles, rate, series } from './dashboard-model';

const GATEWAY = 'service="hps-gateway"';
const WORKER = 'service="solve-worker"';

const PROCESSES: Row = {
  title: 'Processes',
  panels: [
    {
      title: 'Processor time',
      means:
        'Cores that each process uses. One at its limit answers late; more pods, or for workers a look at the rules that take long.',
      unit: 'short',
      queries: [{ expr: `rate(${series('process_cpu_seconds_total')}[$__rate_interval])`, legend: each }],
    },
    {
      title: 'Memory',
      means: 'Resident memory. It settles below heap and buffers; one that only grows ends at the limit of its pod.',
      unit: 'bytes',
      queries: [{ expr: series('process_resident_memory_bytes'), legend: each }],
    },
    {
      title: 'Event loop held up (p99)',
      means:
        'How long a process could do nothing else. Above a quarter of a second everything it does waits (runbook DecisionEventLoopBlocked).',
      unit: 's',
      queries: [{ expr: series('nodejs_eventloop_lag_p99_seconds'), legend: each }],
    },
  ],
};

export const overview: Dashboard = {
  name: 'overview',
  title: 'overview',
  rows: [
    {
      title: 'What callers see',
      panels: [
        {
          title: 'Requests',
          means: 'Requests a second by service. A fall to nothing is an ingress or a service that is gone.',
          unit: 'reqps',
          queries: [{ expr: rate('http_request_duration_seconds_count', ['service']), legend: '{{service}}' }],
        },
        {
          title: 'Failures (5xx), part of all',
          means: 'More than a hundredth is an alert (runbook DecisionErrors).',
          unit: 'percentunit',
          queries: [
            {
              expr: `${rate('http_request_duration_seconds_count', ['service'], 'status="5xx"')} / ${rate('http_request_duration_seconds_count', ['service'])}`,
              legend: '{{service}}',
            },
          ],
        },
        {
          title: 'Time to the answer',
          means:
            'From arrival to the end of the answer, long streams included. Where the gateway is slow, see the dashboard about solving.',
          unit: 's',
          queries: quantiles('http_request_duration_seconds', ['service']),
        },
        {
          title: 'Refusals (4xx)',
          means: 'What callers were refused: bad input, missing rights, and 429 where there are too many of them.',
          unit: 'reqps',
          queries: [
            { expr: rate('http_request_duration_seconds_count', ['service'], 'status="4xx"'), legend: '{{service}}' },
          ],
        },
        {
          title: 'Requests that come for each admitted one',
          means: 'Above 0 requests are answered 429 since workers are too few (runbook DecisionRequestsRefused).',
          unit: 'short',
          queries: [{ expr: series('decision_admission_pressure'), legend: each }],
        },
        {
          title: 'Requests in flight',
          means:
            'One that grows and does not fall waits for something: workers, the database, or clients that take no answers.',
          unit: 'short',
          queries: [{ expr: `sum by (service) (${series('http_requests_in_flight')})`, legend: '{{service}}' }],
        },
      ],
    },
    {
      title: 'Is everything there',
      panels: [
        {
          title: 'Ready workers and gateways',
          means: 'Processes that can answer. No worker: nothing is solved (runbook DecisionWorkersGone).',
          unit: 'short',
          queries: [
            { expr: `sum(${series('decision_responder_ready', WORKER)})`, legend: 'workers' },
            { expr: `sum(${series('decision_requester_ready', GATEWAY)})`, legend: 'gateways' },
          ],
        },
        {
          title: 'Database and cache',
          means: 'Work that waits for a connection to the database, and connections to the cache that are lost.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (service) (${series('decision_database_connections', 'state="waiting"')})`,
              legend: '{{service}} waits for the database',
            },
            {
              expr: `count by (service) (${series('decision_cache_connected')} == 0)`,
              legend: '{{service}} without cache',
            },
          ],
        },
        {
          title: 'Oldest decision that is not stored',
          means: 'How far decision logs are behind (runbook DecisionCollectorBehind).',
          unit: 's',
          queries: [
            { expr: `max(${series('decision_collector_oldest_seconds')})`, legend: 'table' },
            { expr: `max(${series('decision_archive_oldest_seconds')})`, legend: 'archive' },
            { expr: `max(${series('decision_sink_oldest_seconds')})`, legend: 'sinks' },
          ],
        },
      ],
    },
    PROCESSES,
  ],
};
