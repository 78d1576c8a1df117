import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { type FlowNotification, Secret } from '@decision/flows';
import { makeSelfSigned } from '@decision/local-stack';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { createConnectors } from '../src';
import { type MailServer } from '@decision/mail';
import { type Channels, createChannels } from '../src/notification/channels';
import { createNotificationConnector } from '../src/notification/notification-connector';
import { sendJson, startServer, stopServers, type TestServer } from './http-server';
import { callOf, runOf } from './support';

type Inputs = Readonly<Record<string, unknown>>;
type Options = Partial<Parameters<typeof createNotificationConnector>[0]>;

const KEY = 'a-key-of-the-operator';
const signingKeys = new Map([
  ['default', KEY],
  ['orders', 'another-key-of-them'],
]);

/** The notifications that a node hands to the run, and its outputs. */
const ask = async (fields: object, inputs: Inputs = {}, options: Options = {}, run = runOf()) => {
  const asked: FlowNotification[] = [];
  const connector = createNotificationConnector({
    ...{
      outbox: { countWaiting: () => Promise.resolve(0) },
      maxWaiting: 10,
      maxPerRequest: 100,
      mailFrom: 'flows@ours.example',
      signingKeys,
    },
    ...options,
  });
  const call = callOf('notification', { channels: {}, ...fields }, { inputs });
  const onNotifications = (notifications: readonly FlowNotification[]) => void asked.push(...notifications);
  const outputs = await createConnectors({ connectors: [connector] }).callFor(run)({ ...call, onNotifications });
  return { asked, outputs };
};

const contentOf = async (...given: Parameters<typeof ask>): Promise<Record<string, unknown>> =>
  JSON.parse((await ask(...given)).asked[0]?.content ?? '') as Record<string, unknown>;
const bodyOf = async (...given: Parameters<typeof ask>): Promise<unknown> =>
  JSON.parse(String((await contentOf(...given))['body']));

const webhook = (more: object = {}) => ({ webhook: { url: 'https://a.example/hook', ...more } });
const email = (more: object = {}) => ({ email: { to: ['ann@b.example'], ...more } });
const slack = { slack: { url: 'https://hooks.example/T1' } };

describe('a notification', () => {
  it('CN-141: has a title on one line, a message, and the inputs as data', async () => {
    const fields = {
      channels: webhook(),
      titleTemplate: 'Order {{order.id}}',
      messageTemplate: 'Sum: {{sum}}\n{{order}}',
    };
    const { asked } = await ask(fields, { order: { id: 'a"\r\nb\u2028c' }, sum: 5 });
    const content = JSON.parse(asked[0]?.content ?? '') as { body: string };
    expect(JSON.parse(content.body)).toEqual({
      id: asked[0]?.id,
      title: 'Order a" b c',
      message: 'Sum: 5\n{"id":"a\\"\\r\\nb\u2028c"}',
      data: { order: { id: 'a"\r\nb\u2028c' }, sum: 5 },
    });
    await expect(ask(fields, { sum: 5 })).rejects.toThrow(/titleTemplate uses \{\{order.id\}\}/);
    expect(await bodyOf({ channels: webhook() })).toMatchObject({ title: '', message: '', data: {} });
  });

  it('CN-142: for a webhook has its address and headers, filled and checked', async () => {
    const channels = webhook({ url: 'https://a.example/{{team}}?x={{x}}', headers: { 'X-Team': '{{team}}' } });
    expect(await contentOf({ channels }, { team: 'a/b', x: '1&2' })).toMatchObject({
      url: 'https://a.example/a%2Fb?x=1%262',
      headers: { 'x-team': 'a/b' },
    });
    const withHeader = (name: string, value: string) =>
      ask({ channels: webhook({ headers: { [name]: value } }) }, { v: 'a\r\nb: c' });
    await expect(withHeader('x-a', '{{v}}')).rejects.toThrow(/line break/);
    await expect(withHeader('Webhook-Signature', 'v1,x')).rejects.toThrow(/set by the service/);
    await expect(withHeader('Idempotency-Key', 'x')).rejects.toThrow(/set by the service/);
    await expect(ask({ channels: webhook({ url: 'https://a.example/{{v}}' }) }, { v: '..' })).rejects.toThrow(
      /segment/,
    );
  });

  it.each([
    ['a line break', 'a@b.example\r\nBcc: c@d.example'],
    ['several addresses', 'a@b.example,c@d.example'],
    ['a name', 'Ann <a@b.example>'],
    ['a quoted part', '"a b"@b.example'],
    ['no domain', 'a@'],
    ['a command of the mail server', 'a@b.example> SIZE=1'],
    ['a long text', `${'a'.repeat(300)}@b.example`],
  ])('CN-144: for mail refuses an address with %s', async (_what, value) => {
    for (const field of ['to', 'from', 'replyTo']) {
      const channels = email({ [field]: field === 'to' ? ['{{v}}'] : '{{v}}' });
      await expect(ask({ channels, messageTemplate: 'x' }, { v: value })).rejects.toThrow(/one plain address/);
    }
  });

  it('CN-144: for mail has a subject on one line, distinct recipients, and a sender in the domain of the operator', async () => {
    const channels = email({ to: ['{{who}}', 'ann@b.example'], from: 'shop@OURS.example', replyTo: 'help@b.example' });
    const fields = { channels, titleTemplate: 'Hi {{name}}', messageTemplate: 'Hi {{name}}' };
    expect(await contentOf(fields, { who: 'ann@b.example', name: 'a\r\nBcc: c@d.example' })).toEqual({
      ...{ to: ['ann@b.example'], from: 'shop@OURS.example', replyTo: 'help@b.example' },
      ...{ subject: 'Hi a Bcc: c@d.example', text: 'Hi a\r\nBcc: c@d.example' },
    });
    await expect(ask({ channels: email({ from: 'a@other.example' }) })).rejects.toThrow(/addresses of ours.example/);
  });

  it('CN-145: for Slack has a text in which values make no mention, link or JSON member', async () => {
    const fields = {
      channels: slack,
      titleTemplate: 'By {{who}}',
      messageTemplate: '<https://ours.example|see> {{what}}',
    };
    expect(await bodyOf(fields, { who: '<!channel>', what: '"}, {"text": "& <@U1>\n' })).toEqual({
      text: '*By &lt;!channel&gt;*\n<https://ours.example|see> "}, {"text": "&amp; &lt;@U1&gt;\n',
    });
    expect(await bodyOf({ channels: slack, messageTemplate: 'x' })).toEqual({ text: 'x' });
    await expect(ask({ channels: slack })).rejects.toThrow(/needs a text/);
  });

  it('CN-147: fails if its channel is not configured, if its key does not exist, and with a secret', async () => {
    await expect(ask({ channels: email() }, {}, { mailFrom: undefined })).rejects.toThrow(
      /FLOW_NOTIFICATION_SMTP_HOST/,
    );
    await expect(ask({ channels: webhook({ secret: 'gone' }) })).rejects.toThrow(/FLOW_NOTIFICATION_SIGNING_KEYS/);
    expect(await contentOf({ channels: webhook({ secret: 'orders' }) })).toMatchObject({ secret: 'orders' });
    const inputs = { key: new Secret('KEY', 'marker-of-a-secret') };
    await expect(ask({ channels: webhook() }, inputs)).rejects.toThrow(/takes no secret/);
  });

  it('CN-148: is identified by the key of the call and the channel, which attempts share and the outputs show', async () => {
    const fields = { channels: { ...webhook(), ...email(), ...slack }, messageTemplate: 'x' };
    const { asked, outputs } = await ask(fields);
    expect(asked.map(({ channel }) => channel)).toEqual(['webhook', 'email', 'slack']);
    for (const { id, channel } of asked) expect(id).toMatch(new RegExp(`^[\\w-]{43}\\.${channel}$`));
    expect(outputs).toEqual({ notifications: asked.map(({ id, channel }) => ({ id, channel })) });
    expect((await ask(fields)).asked).toEqual(asked);
    expect((await ask(fields, {}, {}, runOf({ idempotencyRoot: 'other' }))).asked[0]?.id).not.toBe(asked[0]?.id);
  });

  it('CN-149: has bounds, including one on what waits in the workspace, and needs a database that answers', async () => {
    const long = (titleTemplate: string, messageTemplate: string) =>
      ask({ channels: webhook(), titleTemplate, messageTemplate });
    await long('t'.repeat(500), 'm'.repeat(65_536));
    await expect(long('t'.repeat(501), '')).rejects.toThrow(/501 characters, and the limit is 500/);
    await expect(long('', 'm'.repeat(65_537))).rejects.toThrow(/the limit is 65536/);
    const waiting = (count: number) =>
      ask({ channels: webhook() }, {}, { outbox: { countWaiting: () => Promise.resolve(count) } });
    await waiting(9);
    await expect(waiting(10)).rejects.toMatchObject({ code: 'infrastructure_error', outcome: 'busy' });
    const outbox = { countWaiting: () => Promise.reject(new Error('gone')) };
    await expect(ask({ channels: webhook() }, {}, { outbox })).rejects.toThrow(
      /database does not answer; send the request again/,
    );
  });

  it('CN-149: has a bound for all inputs of one request', async () => {
    const connector = createNotificationConnector({
      outbox: { countWaiting: () => Promise.resolve(0) },
      ...{ maxWaiting: 10, maxPerRequest: 2, mailFrom: undefined, signingKeys },
    });
    const connectors = createConnectors({ connectors: [connector] });
    const askFor = (requestId: string, workspaceId = 'w1') =>
      connectors.callFor({ ...runOf(), requestId, workspaceId })({
        ...callOf('notification', { channels: webhook() }),
        onNotifications: () => undefined,
      });
    await askFor('one');
    await askFor('one');
    await expect(askFor('one')).rejects.toThrow(
      /^The flows of this request send more than 2 notifications, .* \(FLOW_NOTIFICATION_MAX_PER_REQUEST\)/,
    );
    await expect(askFor('another')).resolves.toHaveProperty('notifications');
    await expect(askFor('one', 'w2')).resolves.toHaveProperty('notifications');
  });
});

let channels: Channels | undefined;
const mailServers: SMTPServer[] = [];

const send = (
  message: { readonly id?: string; readonly channel: string; readonly content: object },
  signal?: AbortSignal,
) => {
  if (channels === undefined) throw new Error('Channels are opened first.');
  const { id = 'id-1', channel, content } = message;
  return channels.send({ id, channel, content: JSON.stringify(content) }, signal ?? new AbortController().signal);
};
const open = (options: Partial<Parameters<typeof createChannels>[0]> = {}): void => {
  channels = createChannels({ allowedHosts: ['127.0.0.1'], signingKeys, mailServer: undefined, ...options });
};

afterEach(async () => {
  await channels?.stop();
  channels = undefined;
  await stopServers();
  for (const server of mailServers.splice(0)) await new Promise<void>((resolve) => server.close(resolve));
});

describe('a webhook', () => {
  const url = ({ port }: TestServer): string => `http://127.0.0.1:${port}/hook`;
  const hook = (server: TestServer, more: object = {}) => ({
    channel: 'webhook',
    content: { url: url(server), headers: { 'x-own': '1' }, body: '{"id":"id-1"}', ...more },
  });
  const answering = (status: number, headers: Record<string, string> = {}) =>
    startServer((_request, response) => {
      response.writeHead(status, headers);
      response.end();
    });

  it('CN-142, CN-143: is posted as JSON with its id, the time, and a signature that a receiver can verify', async () => {
    open();
    const server = await answering(204);
    await send(hook(server));
    await send(hook(server, { secret: 'orders' }));
    const [first, second] = server.seen;
    expect(first).toMatchObject({ method: 'POST', url: '/hook', body: '{"id":"id-1"}' });
    expect(first?.headers).toMatchObject({
      ...{ 'content-type': 'application/json', 'x-own': '1', 'idempotency-key': 'id-1', 'webhook-id': 'id-1' },
    });
    const timestamp = String(first?.headers['webhook-timestamp']);
    expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(60);
    const signed = (key: string, at: string) =>
      `v1,${createHmac('sha256', key).update(`id-1.${at}.{"id":"id-1"}`).digest('base64')}`;
    expect(first?.headers['webhook-signature']).toBe(signed(KEY, timestamp));
    const other = second?.headers ?? {};
    expect(other['webhook-signature']).toBe(signed('another-key-of-them', String(other['webhook-timestamp'])));
  });

  it('CN-143: is not signed without a key, and fails if its key was removed', async () => {
    open({ signingKeys: new Map() });
    const server = await answering(200);
    await send(hook(server));
    expect(server.seen[0]?.headers).not.toHaveProperty('webhook-signature');
    await expect(send(hook(server, { secret: 'orders' }))).rejects.toThrow(/no signing key "orders" any more/);
  });

  it.each([
    ['http://127.0.0.2:9/', /FLOW_NOTIFICATION_ALLOWED_HOSTS/],
    ['http://169.254.169.254/latest/meta-data', /FLOW_NOTIFICATION_ALLOWED_HOSTS/],
    ['http://[::ffff:10.0.0.1]/', /FLOW_NOTIFICATION_ALLOWED_HOSTS/],
  ])('CN-158: refuses a private address such as %s, without a retry', async (target, expected) => {
    open();
    const sending = send({ channel: 'webhook', content: { url: target, headers: {}, body: '{}' } });
    await expect(sending).rejects.toThrow(expected);
    await expect(sending).rejects.toMatchObject({ mayRetry: false });
  });

  it('CN-158: follows no redirect, reads a bounded answer, and can be aborted', async () => {
    open();
    const redirecting = await answering(307, { location: 'http://127.0.0.1:1/' });
    await expect(send(hook(redirecting))).rejects.toThrow(/redirects/);
    const flooding = await startServer((_request, response) => response.end(Buffer.alloc(2_000_000)));
    await expect(send(hook(flooding))).rejects.toThrow(/more than 1048576 bytes/);
    const silent = await startServer(() => undefined);
    const ending = new AbortController();
    const sending = send(hook(silent), ending.signal);
    setTimeout(() => ending.abort(new Error('late')), 50);
    await expect(sending).rejects.toThrow();
  });

  it.each([
    [500, true],
    [503, true],
    [429, true],
    [400, false],
    [410, false],
    [304, false],
  ])('CN-157: that answers %i may be retried: %s', async (status, mayRetry) => {
    open();
    const server = await answering(status, { 'retry-after': '7' });
    const failure = { mayRetry, message: expect.stringContaining(`answered ${status}`) as string };
    await expect(send(hook(server))).rejects.toMatchObject(failure);
    await expect(send({ channel: 'slack', content: { url: url(server), body: '{"text":"x"}' } })).rejects.toMatchObject(
      failure,
    );
    if (mayRetry) await expect(send(hook(server))).rejects.toMatchObject({ retryAfterMs: 7_000 });
  });

  it('CN-145: of Slack gets the text without a signature', async () => {
    open();
    const server = await startServer((_request, response) => sendJson(response, {}));
    await send({ channel: 'slack', content: { url: url(server), body: '{"text":"x"}' } });
    expect(server.seen[0]).toMatchObject({ method: 'POST', body: '{"text":"x"}' });
    expect(server.seen[0]?.headers).not.toHaveProperty('webhook-signature');
  });
});

describe('a mail', () => {
  interface Seen {
    readonly from: string;
    readonly to: readonly string[];
    readonly text: string;
    readonly isSecure: boolean;
    readonly user: unknown;
  }
  const certificate = makeSelfSigned('localhost');

  const startMailServer = async (options: SMTPServerOptions = {}) => {
    const seen: Seen[] = [];
    const server = new SMTPServer({
      ...{ key: certificate.key, cert: certificate.cert, disableReverseLookup: true },
      onAuth: ({ username, password }, _session, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error('Wrong for ann@b.example')),
      onData: (stream, { envelope, secure, user }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const { mailFrom, rcptTo } = envelope;
          seen.push({
            ...{ from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address) },
            ...{ text: Buffer.concat(chunks).toString(), isSecure: secure, user },
          });
          done();
        });
      },
      ...options,
    });
    // Clients that disconnect are not a fault of the test.
    server.on('error', () => undefined);
    mailServers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
    return { seen, port: (server.server.address() as AddressInfo).port };
  };

  const openMail = (port: number, more: Partial<MailServer> = {}): void =>
    open({
      mailServer: {
        ...{ host: 'localhost', port, tls: 'starttls', user: 'flows', password: 'right' },
        ...{ from: 'flows@ours.example', ca: certificate.cert, ...more },
      },
    });
  const mail = (more: object = {}) => ({
    channel: 'email',
    content: { to: ['ann@b.example', 'bob@b.example'], subject: 'Grüße', text: 'Hällo\n.\nDATA\r\n', ...more },
  });

  it('CN-146: is sent over STARTTLS with name and password, with its id as Message-ID', async () => {
    const { seen, port } = await startMailServer();
    openMail(port);
    expect(await send(mail({ replyTo: 'help@b.example' }))).toEqual({ refused: 0 });
    expect(seen[0]).toMatchObject({
      ...{ from: 'flows@ours.example', to: ['ann@b.example', 'bob@b.example'], isSecure: true, user: 'flows' },
    });
    const text = seen[0]?.text ?? '';
    expect(text).toContain('Message-ID: <id-1@ours.example>');
    expect(text).toContain('To: ann@b.example, bob@b.example');
    expect(text).toContain('Reply-To: help@b.example');
    expect(text).toMatch(/^Subject: =\?UTF-8\?/m);
  });

  it('CN-146: is sent over TLS from the first byte, or without it, as the operator configures', async () => {
    const secure = await startMailServer({ secure: true });
    openMail(secure.port, { tls: 'implicit' });
    await send(mail());
    await channels?.stop();
    const plain = await startMailServer({ authOptional: true, disabledCommands: ['STARTTLS'] });
    openMail(plain.port, { tls: 'none', user: undefined });
    await send(mail());
    expect([secure.seen[0]?.isSecure, plain.seen[0]?.isSecure]).toEqual([true, false]);
  });

  it('CN-146: is not sent to a server without STARTTLS if that is required, nor to one whose certificate is not trusted', async () => {
    const { seen, port } = await startMailServer({ authOptional: true, disabledCommands: ['STARTTLS'] });
    openMail(port);
    await expect(send(mail())).rejects.toMatchObject({ mayRetry: true });
    await channels?.stop();
    const trusted = await startMailServer();
    openMail(trusted.port, { ca: undefined });
    await expect(send(mail())).rejects.toThrow(/could not be asked/);
    expect([...seen, ...trusted.seen]).toEqual([]);
  });

  it('CN-157: is retried unless the server refuses it for good; failures name no recipient', async () => {
    const refusing = (responseCode: number) =>
      startMailServer({
        authOptional: true,
        onRcptTo: ({ address }, _session, done) =>
          done(Object.assign(new Error(`No ${address} here`), { responseCode })),
      });
    for (const [code, mayRetry] of [
      [550, false],
      [451, true],
    ] as const) {
      openMail((await refusing(code)).port);
      const sending = send(mail());
      await expect(sending).rejects.toMatchObject({ mayRetry, message: `The mail server answered ${code}.` });
      await channels?.stop();
    }
    openMail((await startMailServer()).port, { password: 'wrong' });
    await expect(send(mail())).rejects.toMatchObject({
      ...{ mayRetry: true, message: expect.not.stringContaining('ann') as string },
    });
    await channels?.stop();
    openMail(1);
    await expect(send(mail())).rejects.toThrow(/could not be asked/);
    open();
    await expect(send(mail())).rejects.toThrow(/FLOW_NOTIFICATION_SMTP_HOST/);
  });

  it('CN-157: reports refused recipients, and reaches the others', async () => {
    const { seen, port } = await startMailServer({
      onRcptTo: ({ address }, _session, done) => done(address.startsWith('bob') ? new Error('no') : null),
    });
    openMail(port);
    expect(await send(mail())).toEqual({ refused: 1 });
    expect(seen[0]?.to).toEqual(['ann@b.example']);
  });
});
