import { type FlowNotification, type FlowOutcome, type OutsideCall } from '../src';
import { begin, graph, node, problemsOf, solve } from './support/flows';

const notification = (id: string, content = '{}'): FlowNotification => ({ id, channel: 'slack', content });
const notify = (ref: string, fields: object = {}) =>
  node(`${ref}:notification`, { channels: { slack: { url: 'https://example.com' } }, ...fields });
const out = node('out:result');

/** Requests a notification that is named after the node and its item. */
const asking = ({ path, indexes, onNotifications }: OutsideCall): Promise<Record<string, unknown>> => {
  onNotifications?.([notification([...path, ...indexes].join('/'))]);
  return Promise.resolve({});
};

const idsOf = (outcome: FlowOutcome): readonly string[] | undefined =>
  outcome.ok ? outcome.notifications?.map(({ id }) => id) : undefined;

const run = async (
  flow: Parameters<typeof begin>[0],
  input: unknown,
  call: (asked: OutsideCall) => Promise<Record<string, unknown>> = asking,
) => begin(flow, input, { call });

describe('notifications', () => {
  it('FL-89 are part of the outcome in evaluation order, whichever node answered first', async () => {
    const flow = graph(
      [node('each:foreach'), notify('item'), notify('once'), out],
      'in.request_list -> each.list\neach.item -> item\nin.request_list -> once\nin.seen -> out',
    );
    const call = async (asked: OutsideCall) => {
      const delay = asked.indexes[0] === 0 ? 20 : 1;
      await new Promise((resolve) => setTimeout(resolve, delay));
      return asking(asked);
    };
    expect(idsOf(await run(flow, { list: [1, 2, 3] }, call))).toEqual(['item/0', 'item/1', 'item/2', 'once']);
    expect(solve(graph([out], 'in.seen -> out'), {})).not.toHaveProperty('notifications.length');
  });

  it('FL-89 are dropped if the flow fails, or if their node fails and does not count', async () => {
    const failing = graph(
      [notify('told'), node('bad:rule', { rule: 'fail' }), out],
      'in.request_n -> told\nin.request_n -> bad.n\nbad.never -> out',
    );
    expect(await run(failing, { n: 1 })).toMatchObject({ ok: false });
    expect(idsOf(await run(failing, { n: 1 }))).toBeUndefined();
    const refused = graph(
      [notify('told', { onError: 'continue' }), notify('other'), out],
      'in.request_n -> told\nin.request_n -> other\nin.seen -> out',
    );
    const call = (asked: OutsideCall) =>
      asked.path[0] === 'told' ? asking(asked).then(() => Promise.reject(new Error('no'))) : asking(asked);
    expect(idsOf(await run(refused, { n: 1 }, call))).toEqual(['other']);
  });

  it('FL-89 of nodes after the exit that ends a flow are left out, even if those had answered', async () => {
    const flow = graph(
      [
        notify('before'),
        node('slow:api', { url: 'https://example.com', outputs: [{ key: 'v', type: 'number' }] }),
        node('exit:result', { immediateExit: true }),
        notify('behind'),
        out,
      ],
      'in.request_n -> before\nin.request_n -> slow\nslow.v -> exit\nin.request_n -> behind\nin.seen -> out',
    );
    const answered: string[] = [];
    const call = async (asked: OutsideCall) => {
      if (asked.node.type === 'api') {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { v: 1 };
      }
      answered.push(asked.path.join('/'));
      return asking(asked);
    };
    expect(idsOf(await run(flow, { n: 1 }, call))).toEqual(['before']);
    expect(answered).toEqual(['before', 'behind']);
  });

  it('FL-89 are limited to 100 per run, and 256 KiB together', async () => {
    const flow = graph(
      [node('each:foreach'), notify('item'), out],
      'in.request_list -> each.list\neach.item -> item\nin.seen -> out',
    );
    const items = (count: number) => ({ list: Array.from({ length: count }, (_, index) => index) });
    expect(idsOf(await run(flow, items(100)))).toHaveLength(100);
    expect(await run(flow, items(101))).toMatchObject({
      ok: false,
      error: { code: 'evaluation_failed', path: ['item'], details: { reason: 'too_many_notifications', limit: 100 } },
    });
    const large = (asked: OutsideCall) => {
      asked.onNotifications?.([notification('a', 'x'.repeat(140_000))]);
      return Promise.resolve({});
    };
    expect(idsOf(await run(flow, items(1), large))).toEqual(['a']);
    expect(await run(flow, items(2), large)).toMatchObject({
      error: { details: { reason: 'notifications_too_large', limit: 262_144 } },
    });
  });
});

describe('the channels of a notification', () => {
  const problems = (channels: object) =>
    problemsOf(graph([notify('told', { channels }), out], 'in.seen -> told\nin.seen -> out')).map(
      ({ code, ref, field, path }) => [code, ref, field, path],
    );

  it.each([
    [{ slack: { url: 'https://hooks.example/{{team}}' } }],
    [{ webhook: { url: 'https://a.example', headers: { 'x-team': '{{team}}' }, secret: 'orders' } }],
    [{ email: { to: ['a@b.example', '{{customer.email}}'], from: 'a@b.example', replyTo: 'c@d.example' } }],
  ])('CN-140: are read: %j', (channels) => {
    expect(problems(channels)).toEqual([]);
  });

  it.each([
    [{}, ''],
    [{ pager: { url: 'https://a.example' } }, ''],
    [{ webhook: { url: 'ftp://a.example' } }, '/webhook/url'],
    [{ webhook: { url: '{{url}}' } }, '/webhook/url'],
    [{ webhook: { url: 'https://a.example', header: {} } }, '/webhook'],
    [{ email: { to: [] } }, '/email/to'],
    [{ email: { to: ['nobody'] } }, '/email/to/0'],
    [{ email: { to: Array.from({ length: 21 }, () => 'a@b.example') } }, '/email/to'],
    [{ slack: {} }, '/slack'],
  ])('CN-140: are refused with the node and the field: %j', (channels, place) => {
    expect(problems(channels)).toContainEqual(['invalid_field', 'told', 'channels', `/nodes/1/channels${place}`]);
  });
});
