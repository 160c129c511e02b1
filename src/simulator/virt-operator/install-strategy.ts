import { type Job, Jobs, type Pod } from '../../lib/kube/kinds/workload-kinds.ts'
import { type ConfigMap, ConfigMaps } from '../../lib/kube/kinds/core-kinds.ts'
import { between, type ControllerContext, made, nameSuffix } from '../machinery/controller.ts'
import { onControlPlane } from './operands.ts'
import { configText, type DeploymentConfig, isAtLeast, type Operator } from './virt-operator-context.ts'
import { identifier, identity } from './managed-objects.ts'
import { gzipSync } from 'node:zlib'

/** Label of the strategy Jobs and ConfigMaps. */
export const strategyLabel = 'kubevirt.io/install-strategy'

/**
 * The install strategy of a configuration is a ConfigMap that a Job of the target's image writes. While the Job has
 * not completed the answer is false, for ever if need be: nothing of it shows in the CR (facts 2.4, lab "Seen" 5).
 */
export async function loadStrategy(cx: Operator, config: DeploymentConfig): Promise<boolean> {
  const where = { namespace: config.namespace, labels: strategyLabel }
  const maps = await cx.reader.list(ConfigMaps, where)
  const jobs = await cx.reader.list(Jobs, where)
  if (maps.some((map) => isOf(map, config))) {
    await clearOld(cx, config, { maps, jobs })
    return true
  }
  const job = jobs.find((j) => isOf(j, config))
  if (job === undefined) await cx.writer.create(Jobs, strategyJob(cx, config))
  else if (job.status?.completionTime !== undefined) await cx.writer.delete(Jobs, job.metadata)
  return false
}

const isOf = ({ metadata }: ConfigMap | Job, config: DeploymentConfig): boolean =>
  metadata.annotations?.[identifier] === config.id

/** Strategies of other configurations go, and Jobs that are through; a Job that hangs stays behind. */
async function clearOld(
  cx: Operator,
  config: DeploymentConfig,
  { maps, jobs }: { maps: readonly ConfigMap[]; jobs: readonly Job[] },
): Promise<void> {
  for (const map of maps) if (!isOf(map, config)) await cx.writer.delete(ConfigMaps, map.metadata)
  for (const job of jobs)
    if (job.status?.completionTime !== undefined) await cx.writer.delete(Jobs, job.metadata)
}

function strategyJob(cx: Operator, config: DeploymentConfig): Job {
  const prefix = isAtLeast(cx.self.version, 9)
    ? 'virt-operator-install-strategy-'
    : `kubevirt-${config.id}-job`
  const env = [
    { name: 'VIRT_OPERATOR_IMAGE', value: config.virtOperatorImage },
    { name: 'TARGET_INSTALL_NAMESPACE', value: config.namespace },
    { name: 'TARGET_DEPLOYMENT_CONFIG', value: configText(config) },
  ]
  return made(Jobs, {
    metadata: {
      name: `${prefix}${nameSuffix(cx.random)}`,
      generateName: prefix,
      namespace: config.namespace,
      labels: { 'kubevirt.io': '', 'app.kubernetes.io/managed-by': 'virt-operator', [strategyLabel]: '' },
      annotations: identity(config),
    },
    spec: {
      backoffLimit: 6,
      template: {
        metadata: { labels: { 'kubevirt.io': 'virt-operator-strategy-dumper' } },
        spec: {
          serviceAccountName: 'kubevirt-operator',
          restartPolicy: 'Never',
          ...onControlPlane,
          containers: [
            {
              name: 'install-strategy-upload',
              image: config.virtOperatorImage,
              command: ['virt-operator', '--dump-install-strategy'],
              env,
            },
          ],
        },
      },
    },
  })
}

/** `virt-operator --dump-install-strategy`: writes the ConfigMap that belongs to its Job; the exit code. */
export async function dumpStrategy(cx: ControllerContext, pod: Pod): Promise<number> {
  await cx.clock.sleep(between(cx.random, 1500, 2500), cx.signal)
  const { namespace, labels = {} } = pod.metadata
  const job = await cx.reader.get(Jobs, { name: labels['batch.kubernetes.io/job-name'] ?? '', namespace })
  if (job.is !== 'object') return 1
  const generateName = 'kubevirt-install-strategy-'
  await cx.writer.create(
    ConfigMaps,
    made(ConfigMaps, {
      metadata: {
        name: `${generateName}${nameSuffix(cx.random)}`,
        generateName,
        namespace: pod.metadata.namespace,
        labels: { 'kubevirt.io': '', 'app.kubernetes.io/managed-by': 'virt-operator', [strategyLabel]: '' },
        annotations: {
          ...job.object.metadata.annotations,
          'kubevirt.io/install-strategy-cm-encoding': 'base64+gzip',
        },
      },
      data: { manifests: gzipSync(targetConfig(pod)).toString('base64') },
    }),
  )
  return 0
}

function targetConfig({ spec }: Pod): string {
  const [container] = spec?.containers ?? []
  return container?.env?.find(({ name }) => name === 'TARGET_DEPLOYMENT_CONFIG')?.value ?? ''
}
