import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce, runMaven } from '../downloads/fetch-once';
import { freePort } from '../network/free-port';
import { lastLines, runProgram } from '../process/run-program';
import type { ServerContext, ServerRecipe } from '../server-recipe';
import { StackError } from '../stack-options';
import { type BrokerNode, logProperties, scramAccount, serverProperties } from './broker-configuration';
import { brokerAnswers } from './broker-probe';
import { type ClassArchive, classArchive, findJava, javaEnvironment } from './java';

const FORMAT_DEADLINE_MS = 120_000;
const CLUSTER_ID_BYTES = 16;

/** A broker and its cluster. */
interface BrokerPlacement {
  readonly node: BrokerNode;
  /** All brokers of the cluster, including this one. */
  readonly nodes: readonly BrokerNode[];
  /** Folder of this broker in the directory of the stack. */
  readonly folder: string;
  /** 22 characters, the same for all brokers; see {@link newClusterId}. It is used when the storage is first made. */
  readonly clusterId: string;
  readonly heapMib: number;
}

/** Apache Kafka on loopback, one process that is both broker and controller. */
export const prepareBroker = async (context: ServerContext): Promise<ServerRecipe> => {
  const node = { id: 1, ports: { clients: context.port, controller: await freePort() } };
  const placement = { node, nodes: [node], folder: 'broker', clusterId: newClusterId(), heapMib: 512 };
  return prepareBrokerAt(placement, context);
};

/** One broker of a cluster. Its configuration is rewritten at each start. */
export const prepareBrokerAt = async (placement: BrokerPlacement, context: ServerContext): Promise<ServerRecipe> => {
  const java = await findJava(context);
  const jars = await fetchKafkaJars(context);
  const home = join(context.directory, placement.folder);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const properties = serverProperties(placement.node, placement.nodes, context);
  writeFileSync(join(home, 'server.properties'), properties, { mode: 0o600 });
  writeFileSync(join(home, 'log4j2.properties'), logProperties());
  const archive = classArchive(java, jars, !context.durable);
  const machine: JavaProgram = { java, classPath: join(jars, '*'), archive, home };
  emptyTemporary(home);
  await formatOnce(machine, placement.clusterId, context);
  return {
    name: 'broker',
    command: java,
    get args() {
      const options = [`-Xmx${placement.heapMib}m`, ...(context.durable ? [] : [QUICK_START])];
      return javaArguments(machine, options, ['kafka.Kafka', 'server.properties']);
    },
    cwd: home,
    env: javaEnvironment(),
    logFile: join(home, 'broker.out'),
    stopSignal: 'SIGTERM',
    prepare: () => Promise.resolve(emptyTemporary(home)),
    isReady: () => brokerAnswers(context.port, context.login),
    onReady: (pid) => archive.make(pid),
  };
};

const TEMPORARY = 'tmp';

/** Compression libraries unpack themselves there, and a killed broker leaves the files behind. */
const emptyTemporary = (home: string): void => {
  rmSync(join(home, TEMPORARY), { recursive: true, force: true });
  mkdirSync(join(home, TEMPORARY), { mode: 0o700 });
};

interface JavaProgram {
  readonly java: string;
  readonly classPath: string;
  readonly archive: ClassArchive;
  /** Working directory, to which the paths in the configuration are relative. */
  readonly home: string;
}

/** Disables the optimising compiler: half the processor time until ready, less throughput later. */
const QUICK_START = '-XX:TieredStopAtLevel=1';

const javaArguments = (program: JavaProgram, options: readonly string[], main: readonly string[]): string[] => [
  ...options,
  ...program.archive.options(),
  '-XX:+UseSerialGC',
  '-Dlog4j2.configurationFile=log4j2.properties',
  '-Djava.awt.headless=true',
  `-Djava.io.tmpdir=${join(program.home, TEMPORARY)}`,
  // Otherwise a killed broker leaves a file in the machine's temporary directory.
  '-XX:-UsePerfData',
  '-cp',
  program.classPath,
  ...main,
];

/** Second word of the file `formatted` if clients log in: the data contains the account. */
const WITH_ACCOUNT = 'account';

/**
 * Gives the data directory its cluster id and its account. The mark is written last: an interrupted format is repeated. A format without an
 * account is also repeated if clients now log in, which loses the content of the topics.
 */
const formatOnce = async (program: JavaProgram, clusterId: string, context: ServerContext): Promise<void> => {
  const mark = join(program.home, 'formatted');
  if (existsSync(mark)) {
    if (context.login === undefined || readFileSync(mark, 'utf8').includes(WITH_ACCOUNT)) return;
    context.say('install', 'its storage has no account to log in with and is made again, with empty topics');
  } else context.say('install', 'formatting its storage');
  rmSync(join(program.home, 'data'), { recursive: true, force: true });
  const format = ['format', '-t', clusterId, '-c', 'server.properties', ...accounts(context)];
  // A file, which the tool reads: every user of the machine can read the arguments of a process.
  const argumentFile = join(program.home, 'format.arguments');
  writeFileSync(argumentFile, `${format.join('\n')}\n`, { mode: 0o600 });
  const { exitCode, output } = await runProgram({
    command: program.java,
    args: javaArguments(program, ['-Xmx128m', QUICK_START], ['kafka.tools.StorageTool', '@format.arguments']),
    cwd: program.home,
    env: javaEnvironment(),
    deadlineMs: FORMAT_DEADLINE_MS,
    signal: context.signal,
  });
  rmSync(argumentFile, { force: true });
  if (exitCode !== 0) {
    throw new StackError('start_failed', `The broker's storage could not be formatted:\n${lastLines(output)}`);
  }
  writeFileSync(mark, `${clusterId}\n${context.login === undefined ? '' : `${WITH_ACCOUNT}\n`}`);
};

const accounts = ({ login, secure }: ServerContext): string[] => [
  ...(login === undefined ? [] : scramAccount(login, ['SCRAM-SHA-256'])),
  ...(secure === undefined ? [] : scramAccount(secure.access, ['SCRAM-SHA-256', 'SCRAM-SHA-512'])),
];

/** 22 characters; the first byte is small because a leading dash would be read as an option. */
export const newClusterId = (): string => {
  const bytes = randomBytes(CLUSTER_ID_BYTES);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString('base64url');
};

const POM = join(__dirname, '../../kafka/pom.xml');
const DIGEST_LENGTH = 8;

/** The folder with the jars that the checked-in `kafka/pom.xml` names; one for each content of that file. */
export const fetchKafkaJars = (context: ServerContext): Promise<string> =>
  fetchOnce({
    downloads: context.downloads,
    name: `kafka-${createHash('sha256').update(readFileSync(POM)).digest('hex').slice(0, DIGEST_LENGTH)}`,
    signal: context.signal,
    say: (message) => context.say('fetch', message),
    fill: (directory) => {
      context.say('fetch', 'fetching Apache Kafka with Maven (43 MB, once)');
      return runMaven(context, [`--file=${POM}`, 'dependency:copy-dependencies', `-DoutputDirectory=${directory}`]);
    },
  });
