import { type Broker } from '@decision/broker';
import { type SinkSettings } from '../reading/sink-settings';
import { createIndexTarget } from './bulk-index-target';
import { createHttpTarget } from './http-target';
import { createRowsTarget } from './json-rows-target';
import { createOtlpTarget } from './otlp-target';
import { type Target } from './target';
import { createTopicTarget } from './topic-target';

/** Opens the target of a sink. A sink that is a topic uses this broker; throws `RangeError` if there is no broker. */
export const openTarget = ({ target, timeoutMs }: SinkSettings, broker: Broker | undefined): Target => {
  switch (target.kind) {
    case 'http':
      return createHttpTarget(target, timeoutMs);
    case 'json-rows':
      return createRowsTarget(target, timeoutMs);
    case 'bulk-index':
      return createIndexTarget(target, timeoutMs);
    case 'otlp':
      return createOtlpTarget(target, timeoutMs);
    case 'kafka':
      if (broker === undefined) throw new RangeError(`The topic "${target.topic}" needs a broker.`);
      return createTopicTarget(target, timeoutMs, broker);
  }
};
