import type { DaemonSet, Deployment } from '../../cluster/kinds/apps.ts'
import type { Container, PodTemplate } from '../../cluster/kinds/pods.ts'
import { type DeploymentConfig, imageOf } from './deployment-config.ts'
import { podStamps } from './stamp.ts'

/** On control-plane nodes, as virt-api and virt-controller have been since v1.3 (facts 2.1). */
export const onControlPlane = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: ['control-plane', 'master'].map((role) => ({
          matchExpressions: [{ key: `node-role.kubernetes.io/${role}`, operator: 'Exists' }],
        })),
      },
    },
  },
  tolerations: [
    { key: 'CriticalAddonsOnly', operator: 'Exists' },
    { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
  ],
}
const everywhere = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
}

function podTemplate(
  config: DeploymentConfig,
  name: string,
  container: Container,
  place: object,
): PodTemplate {
  const { labels, annotations } = podStamps(config)
  return {
    metadata: {
      name,
      labels: { ...labels, ...labelsOf(name), 'prometheus.kubevirt.io': 'true' },
      annotations,
    },
    spec: {
      serviceAccountName: name.replace(/^virt-/, 'kubevirt-').replace('kubevirt-api', 'kubevirt-apiserver'),
      restartPolicy: 'Always',
      priorityClassName: 'kubevirt-cluster-critical',
      containers: [container],
      ...place,
    },
  }
}

/** The pods of virt-template bear no label `kubevirt.io` (recording operator-v1.8.4-v1.9.0), nor do those of what nobody has heard of. */
function labelsOf(name: string): Record<string, string> {
  if (name === 'virt-template-apiserver') return template('apiserver')
  if (name === 'virt-template-controller') return template('controller-manager')
  return known.has(name) ? { 'kubevirt.io': name } : { 'app.kubernetes.io/name': name }
}

const template = (plane: string) => ({ 'app.kubernetes.io/name': 'virt-template', 'control-plane': plane })
const known: ReadonlySet<string> = new Set([
  'virt-handler',
  'virt-controller',
  'virt-api',
  'virt-exportproxy',
])

function operandContainer(config: DeploymentConfig, name: string, args: string[]): Container {
  return { name, image: imageOf(config, name), command: [name], args: [...args, '--port', '8443', '-v', '2'] }
}

/** An operand that is a Deployment. */
export function componentDeployment(config: DeploymentConfig, name: string, replicas: number): Deployment {
  const launcher = [
    '--launcher-image',
    imageOf(config, 'virt-launcher'),
    '--exporter-image',
    imageOf(config, 'virt-exportserver'),
  ]
  const own = operandContainer(config, name, name === 'virt-controller' ? launcher : [])
  const pods = podTemplate(
    config,
    name,
    { ...own, image: templateImage(config, name) ?? own.image ?? '' },
    onControlPlane,
  )
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace: config.namespace,
      labels: { 'kubevirt.io': name, 'app.kubernetes.io/name': name },
    },
    spec: {
      replicas,
      selector: { matchLabels: labelsOf(name) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      template: pods,
    },
  }
}

/** The virt-template images have a tag of their own (lab "Seen" 6). */
function templateImage(config: DeploymentConfig, name: string): string | undefined {
  return name.startsWith('virt-template-')
    ? `${config.registry}/${config.imagePrefix}${name}:v0.2.2`
    : undefined
}

/** What the operator has added to virt-handler by itself after its first roll: facts 2.8. */
export interface HandlerExtras {
  migrationNames: boolean
  oldVolume: boolean
}

export const oldCertificates = 'kubevirt-virt-handler-certs'
export const migrationNames = ['--migration-cn-types', 'migration'] as const

export function handlerDaemonSet(config: DeploymentConfig, extras: HandlerExtras): DaemonSet {
  const name = 'virt-handler'
  const args = ['--hostname-override', '$(NODE_NAME)', '--graceful-shutdown-seconds', '315']
  const own = operandContainer(config, name, args)
  own.args = [...(own.args ?? []), ...(extras.migrationNames ? migrationNames : [])]
  const pods = podTemplate(config, name, own, everywhere)
  const volumes = extras.oldVolume ? [{ name: oldCertificates, secret: { secretName: oldCertificates } }] : []
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name,
      namespace: config.namespace,
      labels: { 'kubevirt.io': name, 'kubevirt.io/supports-migration-cn-types': 'true' },
    },
    spec: {
      selector: { matchLabels: { 'kubevirt.io': name } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: {
        ...pods,
        spec: {
          ...pods.spec,
          volumes: [
            { name: 'libvirt-runtimes', hostPath: { path: '/var/run/kubevirt-libvirt-runtimes' } },
            ...volumes,
          ],
        },
      },
    },
  }
}
