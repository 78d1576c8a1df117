import { type Dashboard, quantile, quantiles, rate, series } from './dashboard-model';

const CONTEXTS = 'service="contexts-api"';

export const contexts: Dashboard = {
  name: 'contexts',
  title: 'contexts',
  rows: [
    {
      title: 'Requests',
      panels: [
        {
          title: 'Requests, by route',
          means: 'Submissions, batches, reads and definitions.',
          unit: 'reqps',
          queries: [
            {
              expr: rate('http_request_duration_seconds_count', ['method', 'route'], CONTEXTS),
              legend: '{{method}} {{route}}',
            },
          ],
        },
        {
          title: 'Time to the answer (p99), by route',
          means: 'A submission takes a few round trips to the database and what its rules take.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.99, 'http_request_duration_seconds', ['method', 'route'], CONTEXTS),
              legend: '{{method}} {{route}}',
            },
          ],
        },
        {
          title: 'Admission',
          means: 'As for gateways: the limit falls when answers about one instance take longer than the target.',
          unit: 'short',
          queries: [
            { expr: series('decision_admission_limit', CONTEXTS), legend: 'limit {{instance}}' },
            { expr: series('decision_admission_mean_answer_ms', CONTEXTS), legend: 'mean answer, ms {{instance}}' },
          ],
        },
        {
          title: 'Operations at workers, by outcome',
          means: 'What contexts ask workers to settle.',
          unit: 'reqps',
          queries: [{ expr: rate('decision_requester_requests_total', ['outcome'], CONTEXTS), legend: '{{outcome}}' }],
        },
        {
          title: 'Time at workers',
          means: 'Broker, waiting and evaluation of operations together.',
          unit: 's',
          queries: quantiles('decision_requester_request_seconds', [], CONTEXTS),
        },
        {
          title: 'Given way',
          means: 'Operations of two flows that waited for each other; one gave way and is repeated.',
          unit: 'ops',
          queries: [{ expr: rate('decision_context_operations_given_way_total', ['service']), legend: '{{service}}' }],
        },
      ],
    },
    {
      title: 'Instances and their dependents',
      panels: [
        {
          title: 'Wait behind predecessors',
          means: 'Long: many requests for the same instances at once, or operations that take long.',
          unit: 's',
          queries: quantiles('decision_context_line_wait_seconds', []),
        },
        {
          title: 'Waiting and held',
          means: 'Operations that wait behind others for an instance, and instances that are busy now.',
          unit: 'short',
          queries: [
            { expr: `sum(${series('decision_context_line_waiting')})`, legend: 'waiting' },
            { expr: `sum(${series('decision_context_held_instances')})`, legend: 'held' },
          ],
        },
        {
          title: 'Fenced instances',
          means: 'Decisions that were not written, or nobody knows, by cause (runbook DecisionInstancesFenced).',
          unit: 'ops',
          queries: [{ expr: rate('decision_context_fenced_instances_total', ['cause']), legend: '{{cause}}' }],
        },
        {
          title: 'Rounds of an instance',
          means: 'Many: rules write what others, or they themselves, read again.',
          unit: 'short',
          queries: quantiles('decision_context_rounds', []),
        },
        {
          title: 'Pages of dependents',
          means: 'evaluated: all of a page. failed: not all. broken: the rest is left to upkeep or the next request.',
          unit: 'ops',
          queries: [{ expr: rate('decision_context_cascade_pages_total', ['outcome']), legend: '{{outcome}}' }],
        },
        {
          title: 'Dependents evaluated again',
          means: 'A change of one instance that many others read shows here first.',
          unit: 'ops',
          queries: [{ expr: rate('decision_context_cascade_dependents_total', ['outcome']), legend: '{{outcome}}' }],
        },
      ],
    },
    {
      title: 'Upkeep',
      panels: [
        {
          title: 'Taken over',
          means: 'Operations whose process was silent, finished by another one: processes die or hang.',
          unit: 'ops',
          queries: [
            { expr: rate('decision_context_operations_taken_over_total', ['instance']), legend: '{{instance}}' },
          ],
        },
        {
          title: 'Told late',
          means: 'Changed instances whose readers nobody else had told.',
          unit: 'ops',
          queries: [{ expr: rate('decision_context_instances_told_late_total', ['instance']), legend: '{{instance}}' }],
        },
        {
          title: 'Removed rows',
          means: 'Instances that expired or were deleted with their context.',
          unit: 'ops',
          queries: [{ expr: rate('decision_context_rows_removed_total', ['cause']), legend: '{{cause}}' }],
        },
      ],
    },
  ],
};
