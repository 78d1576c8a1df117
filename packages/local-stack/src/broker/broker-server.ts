import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../network/free-port';
import { lastLines, runProgram } from '../process/run-program';
import type { ServerRecipe } from '../process/server-recipe';
import type { ServerContext } from '../server-context';
import { StackError } from '../stack-error';
import { logProperties, serverProperties } from './broker-configuration';
import { brokerAnswers } from './broker-probe';
import { scramAccounts } from './secure-listeners';
import { findJava } from './java';
import { fetchKafkaJars } from './kafka-jars';

const FORMAT_DEADLINE_MS = 120_000;
const CLUSTER_ID_BYTES = 16;

/** Apache Kafka on loopback, one process that is broker and controller. Its configuration is written anew at each start. */
export const prepareBroker = async (context: ServerContext): Promise<ServerRecipe> => {
  const java = await findJava(context);
  const jars = await fetchKafkaJars(context);
  const home = join(context.directory, 'broker');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const ports = { clients: context.port, controller: await freePort() };
  writeFileSync(join(home, 'server.properties'), serverProperties(ports, context.secure), { mode: 0o600 });
  writeFileSync(join(home, 'log4j2.properties'), logProperties());
  const machine: JavaProgram = { java, classPath: join(jars, '*'), home };
  emptyTemporary(home);
  await formatOnce(machine, context);
  return {
    name: 'broker',
    command: java,
    args: javaArguments(
      machine,
      ['-Xmx512m', ...(context.durable ? [] : [QUICK_START])],
      ['kafka.Kafka', 'server.properties'],
    ),
    cwd: home,
    env: javaEnvironment(),
    logFile: join(home, 'broker.out'),
    stopSignal: 'SIGTERM',
    prepare: () => Promise.resolve(emptyTemporary(home)),
    isReady: () => brokerAnswers(context.port),
  };
};

const TEMPORARY = 'tmp';

/** Compression libraries unpack themselves there, and a killed broker leaves them behind. */
const emptyTemporary = (home: string): void => {
  rmSync(join(home, TEMPORARY), { recursive: true, force: true });
  mkdirSync(join(home, TEMPORARY), { mode: 0o700 });
};

interface JavaProgram {
  readonly java: string;
  readonly classPath: string;
  /** Working directory, to which the paths in the configuration are relative. */
  readonly home: string;
}

/** Leaves out the optimising compiler: half the processor time until it is ready, less throughput later. */
const QUICK_START = '-XX:TieredStopAtLevel=1';

const javaArguments = (program: JavaProgram, options: readonly string[], main: readonly string[]): string[] => [
  ...options,
  '-XX:+UseSerialGC',
  '-Dlog4j2.configurationFile=log4j2.properties',
  '-Djava.awt.headless=true',
  `-Djava.io.tmpdir=${join(program.home, TEMPORARY)}`,
  // Else a killed broker leaves a file in the machine's directory for temporary files.
  '-XX:-UsePerfData',
  '-cp',
  program.classPath,
  ...main,
];

// Java reads file names in the locale's encoding: under the C locale it cannot open a path with an accent.
const javaEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8',
});

/** Gives the data directory its cluster id. The mark comes last: a format that was cut short is done again. */
const formatOnce = async (program: JavaProgram, context: ServerContext): Promise<void> => {
  const mark = join(program.home, 'formatted');
  if (existsSync(mark)) return;
  context.say('install', 'formatting its storage');
  rmSync(join(program.home, 'data'), { recursive: true, force: true });
  const clusterId = newClusterId();
  const main = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', 'server.properties'];
  if (context.secure !== undefined) main.push(...scramAccounts(context.secure));
  const { exitCode, output } = await runProgram({
    command: program.java,
    args: javaArguments(program, ['-Xmx128m', QUICK_START], main),
    cwd: program.home,
    env: javaEnvironment(),
    deadlineMs: FORMAT_DEADLINE_MS,
    signal: context.signal,
  });
  if (exitCode !== 0) {
    throw new StackError('start_failed', `The broker's storage could not be formatted:\n${lastLines(output)}`);
  }
  writeFileSync(mark, `${clusterId}\n`);
};

/** 22 characters; the first byte is kept small because a leading dash would be read as an option. */
const newClusterId = (): string => {
  const bytes = randomBytes(CLUSTER_ID_BYTES);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString('base64url');
};
