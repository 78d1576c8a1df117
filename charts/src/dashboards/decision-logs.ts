import { type Dashboard, each, quantile, quantiles, rate, series } from './dashboard-model';

export const decisionLogs: Dashboard = {
  name: 'decision-logs',
  title: 'decision logs',
  rows: [
    {
      title: 'Those who decide',
      panels: [
        {
          title: 'Decisions handed over',
          means: 'dropped: decisions that no log has (runbook DecisionRecordsDropped).',
          unit: 'ops',
          queries: [{ expr: rate('decision_logs_total', ['outcome']), legend: '{{outcome}}' }],
        },
        {
          title: 'Waiting for the broker',
          means: 'Bytes of records; at DECISION_LOG_BUFFER_BYTES decisions are dropped.',
          unit: 'bytes',
          queries: [{ expr: series('decision_decision_log_queued_bytes'), legend: each }],
        },
        {
          title: 'Answers that wait for their record (p99)',
          means: 'Only where a rule or flow requires it.',
          unit: 's',
          queries: [{ expr: quantile(0.99, 'decision_logs_wait_seconds', ['outcome']), legend: '{{outcome}}' }],
        },
      ],
    },
    {
      title: 'Table',
      panels: [
        {
          title: 'Records, by outcome',
          means: 'repeated: they were there already. expired: their day is not kept.',
          unit: 'ops',
          queries: [{ expr: rate('decision_collector_records_total', ['outcome']), legend: '{{outcome}}' }],
        },
        {
          title: 'Behind',
          means: 'Messages on the topic that are not in the table (runbook DecisionCollectorBehind).',
          unit: 'short',
          queries: [
            { expr: `sum(${series('decision_collector_lag_messages')})`, legend: 'written and not stored' },
            { expr: `sum(${series('decision_collector_queued_messages')})`, legend: 'fetched and not stored' },
          ],
        },
        {
          title: 'Storing a batch',
          means: 'The database is what takes the time.',
          unit: 's',
          queries: quantiles('decision_collector_store_seconds', []),
        },
        {
          title: 'Set apart',
          means: 'Messages in the quarantine, by reason (runbook DecisionMessagesSetApart).',
          unit: 'ops',
          queries: [{ expr: rate('decision_collector_set_apart_total', ['reason']), legend: '{{reason}}' }],
        },
      ],
    },
    {
      title: 'Archive and sinks',
      panels: [
        {
          title: 'Archived',
          means: 'lost: the topic gave messages up before they were archived.',
          unit: 'ops',
          queries: [{ expr: rate('decision_archive_records_total', ['outcome']), legend: '{{outcome}}' }],
        },
        {
          title: 'Failures of the archive',
          means: 'Attempts to write, and steps of upkeep; they are made again (runbook DecisionArchiveFails).',
          unit: 'ops',
          queries: [
            { expr: rate('decision_archive_failures_total', ['instance']), legend: 'writing {{instance}}' },
            { expr: rate('decision_archive_upkeep_failures_total', ['step']), legend: '{{step}}' },
          ],
        },
        {
          title: 'Behind, archive',
          means: 'Messages that are not archived; up to ARCHIVE_ROLL_MS of them is usual.',
          unit: 'short',
          queries: [{ expr: `sum(${series('decision_archive_lag_messages')})`, legend: 'messages' }],
        },
        {
          title: 'Sent to sinks',
          means: 'By sink and outcome. dead_lettered: the sink refused them for good.',
          unit: 'ops',
          queries: [{ expr: rate('decision_sink_records_total', ['sink', 'outcome']), legend: '{{sink}} {{outcome}}' }],
        },
        {
          title: 'Behind, sinks',
          means: 'Messages that a sink has not been sent.',
          unit: 'short',
          queries: [{ expr: `sum by (sink) (${series('decision_sink_lag_messages')})`, legend: '{{sink}}' }],
        },
        {
          title: 'Failures of sinks',
          means: 'unavailable: it does not answer. refused: it takes nothing of what is sent.',
          unit: 'ops',
          queries: [{ expr: rate('decision_sink_failures_total', ['sink', 'cause']), legend: '{{sink}} {{cause}}' }],
        },
      ],
    },
  ],
};
