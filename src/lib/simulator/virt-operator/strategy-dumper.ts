import { gzipSync } from 'node:zlib'
import { Jobs } from '../../cluster/kinds/apps.ts'
import { ConfigMaps } from '../../cluster/kinds/core.ts'
import type { Pod } from '../../cluster/kinds/pods.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import { between, nameSuffix } from '../machinery/luck.ts'
import { namespaced } from '../machinery/namespaced.ts'
import { strategyLabel } from './install-strategy.ts'

/** `virt-operator --dump-install-strategy`: writes the ConfigMap that belongs to its Job; the exit code. */
export async function dumpStrategy(cx: ControllerContext, pod: Pod): Promise<number> {
  await cx.clock.sleep(between(cx.random, 1500, 2500), cx.signal)
  const { namespace, labels = {} } = pod.metadata
  const job = await cx.reader.find(Jobs, { name: labels['batch.kubernetes.io/job-name'] ?? '', namespace })
  if (job.is !== 'object') return 1
  const generateName = 'kubevirt-install-strategy-'
  await cx.writer.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `${generateName}${nameSuffix(cx.random)}`,
      generateName,
      ...namespaced(pod.metadata),
      labels: { 'kubevirt.io': '', 'app.kubernetes.io/managed-by': 'virt-operator', [strategyLabel]: '' },
      annotations: {
        ...job.object.metadata.annotations,
        'kubevirt.io/install-strategy-cm-encoding': 'base64+gzip',
      },
    },
    data: { manifests: gzipSync(targetConfig(pod)).toString('base64') },
  })
  return 0
}

function targetConfig({ spec }: Pod): string {
  const [container] = spec?.containers ?? []
  return container?.env?.find(({ name }) => name === 'TARGET_DEPLOYMENT_CONFIG')?.value ?? ''
}
