import { type Dashboard, each, quantile, quantiles, rate, series } from './dashboard-model';

const GATEWAY = 'service="hps-gateway"';
const WORKER = 'service="solve-worker"';

export const solving: Dashboard = {
  name: 'solving',
  title: 'solving',
  rows: [
    {
      title: 'Gateways',
      panels: [
        {
          title: 'Requests for workers, by outcome',
          means: 'answered, or the code of the error. worker_timeout and not_ready: see the row about workers.',
          unit: 'reqps',
          queries: [{ expr: rate('decision_requester_requests_total', ['outcome'], GATEWAY), legend: '{{outcome}}' }],
        },
        {
          title: 'Time to the answer of a worker',
          means: 'Broker, waiting and evaluation together (runbook DecisionAnswersSlow).',
          unit: 's',
          queries: quantiles('decision_requester_request_seconds', [], GATEWAY),
        },
        {
          title: 'Where the time goes (p99)',
          means:
            'Of a request: in the broker with queues on both sides, waiting in a worker, being handled there. The largest is where to look.',
          unit: 's',
          queries: [
            { expr: quantile(0.99, 'decision_requester_broker_seconds', [], GATEWAY), legend: 'broker' },
            { expr: quantile(0.99, 'decision_responder_wait_seconds', [], WORKER), legend: 'waiting' },
            { expr: quantile(0.99, 'decision_responder_handling_seconds', [], WORKER), legend: 'handling' },
          ],
        },
        {
          title: 'Admission',
          means:
            'Requests that may be in flight, and the mean answer that decides it. The limit falls when answers take longer than the target.',
          unit: 'short',
          queries: [
            { expr: series('decision_admission_limit', GATEWAY), legend: 'limit {{instance}}' },
            { expr: series('decision_admission_mean_answer_ms', GATEWAY), legend: 'mean answer, ms {{instance}}' },
          ],
        },
        {
          title: 'Awaited answers',
          means: 'Requests that wait for workers. At 20,000 in one process more are refused.',
          unit: 'short',
          queries: [{ expr: series('decision_requester_pending_requests', GATEWAY), legend: '{{instance}}' }],
        },
        {
          title: 'Refusals on record',
          means: 'Requests that gateways refused or gave up, and what of it is in the decision log.',
          unit: 'reqps',
          queries: [{ expr: rate('decision_refusals_total', ['outcome']), legend: '{{outcome}}' }],
        },
        {
          title: 'Sent again',
          means: 'Requests whose answers moved to another partition: gateways come and go.',
          unit: 'reqps',
          queries: [{ expr: rate('decision_requester_resent_requests_total', ['service']), legend: '{{service}}' }],
        },
      ],
    },
    {
      title: 'Workers',
      panels: [
        {
          title: 'Waiting before evaluation',
          means: 'Rises first when workers are too few (runbook DecisionWorkersTooFew).',
          unit: 's',
          queries: quantiles('decision_responder_wait_seconds', [], WORKER),
        },
        {
          title: 'Evaluation',
          means: 'Handling alone: rules or flows that take long.',
          unit: 's',
          queries: quantiles('decision_responder_handling_seconds', [], WORKER),
        },
        {
          title: 'Requests, by outcome',
          means: 'expired: nobody waited any more. malformed: something else writes to the topic.',
          unit: 'reqps',
          queries: [{ expr: rate('decision_responder_requests_total', ['outcome'], WORKER), legend: '{{outcome}}' }],
        },
        {
          title: 'Evaluated inputs, by outcome',
          means:
            'Each input of a list counts. Errors by their code: what callers send, or what a rule computes, is wrong.',
          unit: 'ops',
          queries: [{ expr: rate('decision_evaluations_total', ['outcome']), legend: '{{outcome}}' }],
        },
        {
          title: 'Rules and flows compiled',
          means:
            'Usual after a release. All the time: more are in use than fit into memory (WORKER_MAX_COMPILED_BYTES).',
          unit: 'ops',
          queries: [{ expr: rate('decision_compiled_total', ['service', 'asset']), legend: '{{service}} {{asset}}' }],
        },
        {
          title: 'Time of a compilation (p99)',
          means: 'The process does nothing else meanwhile: large rules delay what waits behind them.',
          unit: 's',
          queries: [{ expr: quantile(0.99, 'decision_compile_seconds', ['asset']), legend: '{{asset}}' }],
        },
        {
          title: 'Fetched and not finished',
          means: 'At 1,000 a worker fetches no more.',
          unit: 'short',
          queries: [{ expr: series('decision_responder_queued_requests', WORKER), legend: '{{instance}}' }],
        },
        {
          title: 'Partitions',
          means: 'A worker without partitions is idle: there are more workers than partitions.',
          unit: 'short',
          queries: [{ expr: series('decision_responder_owned_partitions', WORKER), legend: '{{instance}}' }],
        },
        {
          title: 'Workers, and those that were asked for',
          means: 'What POST /api/v1/scale asks for, beside those that are ready.',
          unit: 'short',
          queries: [
            { expr: `sum(${series('decision_responder_ready', WORKER)})`, legend: 'ready' },
            { expr: `max(${series('decision_desired_workers')})`, legend: 'asked for' },
          ],
        },
      ],
    },
    {
      title: 'Long evaluations and flows',
      panels: [
        {
          title: 'Long evaluations',
          means: 'Evaluations in threads of their own, loading included.',
          unit: 's',
          queries: quantiles('decision_long_evaluation_seconds', []),
        },
        {
          title: 'Waiting for a thread',
          means: 'Rules of many cells or costly formulas come faster than threads take them.',
          unit: 'short',
          queries: [{ expr: series('decision_evaluation_threads_waiting'), legend: each }],
        },
        {
          title: 'Flows that wait for other systems',
          means: 'Runs that have not ended. Near FLOW_MAX_WAITING more are answered 429.',
          unit: 'short',
          queries: [{ expr: series('decision_flows_waiting'), legend: each }],
        },
        {
          title: 'Calls of nodes to other systems (p99)',
          means: 'By kind and outcome, attempts included.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.99, 'decision_flow_call_duration_seconds', ['kind', 'outcome']),
              legend: '{{kind}} {{outcome}}',
            },
          ],
        },
        {
          title: 'Targets that are left alone',
          means: 'Systems that do not answer; flows that need them fail at once for a while.',
          unit: 'short',
          queries: [{ expr: series('decision_flow_open_circuits'), legend: each }],
        },
        {
          title: 'Notifications',
          means: 'Attempts to send, by channel. failed: given up (runbook DecisionNotificationsUndelivered).',
          unit: 'ops',
          queries: [
            { expr: rate('decision_notifications_total', ['channel', 'outcome']), legend: '{{channel}} {{outcome}}' },
          ],
        },
      ],
    },
  ],
};
