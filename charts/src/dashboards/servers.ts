import { type Dashboard, each, quantile, quantiles, rate, series } from './dashboard-model';

/** What sends messages, as its metrics are called. */
const PRODUCERS = ['requester', 'responder', 'decision_log'] as const;

export const broker: Dashboard = {
  name: 'broker',
  title: 'broker',
  rows: [
    {
      title: 'Sending',
      panels: [
        {
          title: 'Acknowledgement (p99)',
          means:
            'How long the brokers take to have a batch safe. A slow disk or a copy that is behind shows here first.',
          unit: 's',
          queries: PRODUCERS.map((source) => ({
            expr: quantile(0.99, `decision_${source}_produce_seconds`, ['service']),
            legend: `${source} {{service}}`,
          })),
        },
        {
          title: 'Bytes',
          means: 'Before compression.',
          unit: 'Bps',
          queries: PRODUCERS.map((source) => ({
            expr: rate(`decision_${source}_produced_bytes_total`, ['service']),
            legend: `${source} {{service}}`,
          })),
        },
        {
          title: 'Messages of a batch (median)',
          means: 'Small batches under load cost the brokers more for each message.',
          unit: 'short',
          queries: PRODUCERS.map((source) => ({
            expr: quantile(0.5, `decision_${source}_batch_messages`, ['service']),
            legend: `${source} {{service}}`,
          })),
        },
        {
          title: 'Waiting',
          means: 'Messages that wait for the brokers or their acknowledgement.',
          unit: 'short',
          queries: [
            { expr: series('decision_requester_queued_messages'), legend: `requests ${each}` },
            { expr: series('decision_decision_log_queued_messages'), legend: `decisions ${each}` },
          ],
        },
        {
          title: 'Given up',
          means: 'Messages that were never sent, by topic and cause.',
          unit: 'ops',
          queries: PRODUCERS.map((source) => ({
            expr: rate(`decision_${source}_failed_messages_total`, ['topic', 'cause']),
            legend: `${source} {{topic}} {{cause}}`,
          })),
        },
        {
          title: 'Sent once more',
          means: 'Messages that may be stored twice: leaders moved or connections broke.',
          unit: 'ops',
          queries: PRODUCERS.map((source) => ({
            expr: rate(`decision_${source}_repeated_messages_total`, ['service']),
            legend: `${source} {{service}}`,
          })),
        },
      ],
    },
    {
      title: 'Groups',
      panels: [
        {
          title: 'Requests that are not finished, and those of them that were fetched',
          means:
            'What was written to solution. Far above what was fetched: workers are too few (runbook DecisionRequestsPileUp).',
          unit: 'short',
          queries: [
            { expr: `sum(${series('decision_responder_lag_messages')})`, legend: 'not finished' },
            { expr: `sum(${series('decision_responder_queued_requests')})`, legend: 'fetched' },
          ],
        },
        {
          title: 'Time in the broker',
          means: 'Of a request and its answer, queues on both sides included, without waiting and handling in workers.',
          unit: 's',
          queries: quantiles('decision_requester_broker_seconds', ['service']),
        },
        {
          title: 'Partitions',
          means: 'What each member reads. 0 for long: it can do nothing (runbook DecisionGatewayWithoutPartitions).',
          unit: 'short',
          queries: [
            { expr: series('decision_requester_owned_partitions'), legend: `answers, ${each}` },
            { expr: series('decision_responder_owned_partitions'), legend: `requests, ${each}` },
          ],
        },
        {
          title: 'Since the last heartbeat',
          means: 'Nearly WORKER_SESSION_TIMEOUT_MS: the brokers are about to give the partitions to another worker.',
          unit: 's',
          queries: [
            {
              expr: `time() - ${series('decision_responder_last_heartbeat_timestamp_seconds')}`,
              legend: '{{instance}}',
            },
          ],
        },
        {
          title: 'Events',
          means: 'rebalanced: members come and go. consumer_lost and producer_lost: connections broke.',
          unit: 'ops',
          queries: [
            { expr: rate('decision_requester_events_total', ['type']), legend: 'requester {{type}}' },
            { expr: rate('decision_responder_events_total', ['type']), legend: 'responder {{type}}' },
            { expr: rate('decision_collector_events_total', ['type']), legend: 'collector {{type}}' },
          ],
        },
      ],
    },
  ],
};

export const databaseAndCache: Dashboard = {
  name: 'database-and-cache',
  title: 'database and cache',
  rows: [
    {
      title: 'Database',
      panels: [
        {
          title: 'Open connections',
          means: 'At DATABASE_POOL_MAX with none idle, the pool is too small or the database too slow.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (service, state) (${series('decision_database_connections', 'state!="waiting"')})`,
              legend: '{{service}} {{state}}',
            },
          ],
        },
        {
          title: 'Work that waits for a connection',
          means: 'Above 0 for long: runbook DecisionDatabaseBusy.',
          unit: 'short',
          queries: [{ expr: series('decision_database_connections', 'state="waiting"'), legend: each }],
        },
        {
          title: 'Wait for a connection (p99)',
          means: 'By service, the opening of a new connection included.',
          unit: 's',
          queries: [{ expr: quantile(0.99, 'decision_database_wait_seconds', ['service']), legend: '{{service}}' }],
        },
        {
          title: 'Loads of what is cached (p99)',
          means: 'How long the database takes to answer what no cache had; failed: it did not.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.99, 'decision_cache_load_seconds', ['name', 'outcome']),
              legend: '{{name}} {{outcome}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Cache',
      panels: [
        {
          title: 'Reads, by where they were answered',
          means: 'local: this process. shared: the cache. miss: the database.',
          unit: 'ops',
          queries: [{ expr: rate('decision_cache_reads_total', ['result']), legend: '{{result}}' }],
        },
        {
          title: 'Misses, by what was read',
          means: 'Many misses of one name: more of it is used than fits, or it changes all the time.',
          unit: 'ops',
          queries: [{ expr: rate('decision_cache_reads_total', ['name'], 'result="miss"'), legend: '{{name}}' }],
        },
        {
          title: 'Lost connections and open circuits',
          means: 'Without the cache everything works from the database, slower (runbook DecisionCacheAway).',
          unit: 'short',
          queries: [
            {
              expr: `count by (connection) (${series('decision_cache_connected')} == 0)`,
              legend: '{{connection}} lost',
            },
            { expr: `sum(${series('decision_cache_circuit_open')})`, legend: 'circuits open' },
          ],
        },
        {
          title: 'Connections made again',
          means: 'Often and all the time: the cache restarts, or something between cuts idle or busy connections.',
          unit: 'ops',
          queries: [
            {
              expr: rate('decision_cache_reconnects_total', ['service', 'connection']),
              legend: '{{service}} {{connection}}',
            },
          ],
        },
        {
          title: 'Failed commands',
          means: 'By command and reason.',
          unit: 'ops',
          queries: [
            {
              expr: rate('decision_cache_failed_commands_total', ['command', 'reason']),
              legend: '{{command}} {{reason}}',
            },
          ],
        },
        {
          title: 'Messages about changes',
          means: 'Sent and received. Received without sent: another deployment uses the same prefix.',
          unit: 'ops',
          queries: [
            {
              expr: rate('decision_cache_invalidations_total', ['direction', 'kind']),
              legend: '{{direction}} {{kind}}',
            },
          ],
        },
        {
          title: 'Changes that are not announced',
          means: 'Above 0 for more than ten seconds: solves may be that stale (runbook DecisionChangesUnheard).',
          unit: 's',
          queries: [
            { expr: `max(${series('decision_announcements_oldest_owed_seconds')})`, legend: 'oldest that is owed' },
          ],
        },
      ],
    },
  ],
};
