import { retriedCodes, usageError } from '../../kube/errors.ts'
import type { FleetPlanDocument } from '../../fleet/fleet-plan.ts'
import { yamlText } from './yaml-text.ts'

type Planned = Pick<FleetPlanDocument, 'to' | 'waves' | 'soakSeconds' | 'clusters' | 'seal'>

/**
 * The waves of a fleet plan for Argo Workflows: each wave a list of parallel steps, a suspend between them, and a last step that ends the fleet run. One that fails ends the workflow after its wave.
 * The plan lies in a ConfigMap and the kubeconfig in a Secret, which parameters name; the image is a parameter without a default. Throws `usage` for a plan that no such pod could carry out.
 */
export function argoWorkflow({ to, waves, soakSeconds, clusters, seal }: Planned): string {
  if (seal === undefined) return '# There is no workflow: the plan is not sealed.\n'
  ensureCarried(clusters)
  const soaks = soakSeconds > 0
  const steps = waves.flatMap(({ wave, clusters: names }, index) => [
    ...(index > 0 && soaks ? [[{ name: `soak-${index}`, template: 'soak' }]] : []),
    names.map((name, at) => ({
      name: stepName(wave, at, name),
      template: 'cluster',
      arguments: { parameters: [{ name: 'cluster', value: name }] },
    })),
  ])
  const workflow = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: {
      generateName: `kvup-fleet-${to.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-')}-`,
      annotations: { 'kvup.io/fleet-plan': seal.uid },
    },
    spec: {
      entrypoint: 'waves',
      arguments: {
        parameters: [
          { name: 'image' },
          { name: 'plan', value: 'kvup-fleet-plan' },
          { name: 'kubeconfig', value: 'kvup-fleet-kubeconfig' },
        ],
      },
      parallelism: 16,
      serviceAccountName: account,
      // Only the executor of Argo asks this cluster; kvup has no token of it.
      automountServiceAccountToken: false,
      executor: { serviceAccountName: account },
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      volumes: [
        { name: 'plan', configMap: { name: '{{workflow.parameters.plan}}' } },
        { name: 'kubeconfig', secret: { secretName: '{{workflow.parameters.kubeconfig}}' } },
        ...['work', 'home', 'tmp'].map((name) => ({ name, emptyDir: {} })),
      ],
      templates: [
        { name: 'waves', steps: [...steps, [{ name: 'end', template: 'end' }]] },
        ...(soaks ? [{ name: 'soak', suspend: { duration: String(soakSeconds) } }] : []),
        {
          name: 'cluster',
          inputs: { parameters: [{ name: 'cluster' }] },
          ...podOf(['--only={{inputs.parameters.cluster}}']),
        },
        // Finds every cluster done, and writes into each that the fleet run is over.
        { name: 'end', ...podOf([]) },
      ],
    },
  }
  return `${head}${yamlText(workflow, true)}`
}

const account = 'kvup-fleet'

const head = [
  'What it needs in its namespace, before argo submit FILE -p image=NAME@sha256:DIGEST',
  '  kubectl create configmap kvup-fleet-plan --from-file=fleet-plan.yaml=FILE',
  '  kubectl create secret generic kvup-fleet-kubeconfig --from-file=config=FILE',
  `  service account ${account} with the rights of an executor of Argo, and its token as a Secret`,
]
  .map((line) => `# ${line}\n`)
  .join('')

/** What stands in a value is a template for Argo where it has two braces; and a kubeconfig of its own is a path that the pod does not have. */
function ensureCarried(clusters: Planned['clusters']): void {
  const template = clusters.find(({ name }) => /\{\{|\}\}/u.test(name))
  if (template)
    throw usageError(
      'name-is-template',
      `Argo Workflows would read the name ${JSON.stringify(template.name)} as a template`,
      { remedy: 'give that cluster another name in a fleet file (name:), and make the plan with --file' },
    )
  const own = clusters.find(({ kubeconfig }) => kubeconfig !== undefined)
  if (own)
    throw usageError(
      'kubeconfig-of-its-own',
      `cluster ${JSON.stringify(own.name)} has a kubeconfig of its own (${own.kubeconfig}), and the pods of the workflow share one`,
      {
        remedy:
          'merge them with kubectl config view --flatten, and make the plan with that kubeconfig and --contexts',
      },
    )
}

/** Unique by its numbers; the name of the cluster is there to be read. */
function stepName(wave: number, at: number, cluster: string): string {
  const readable = cluster.replaceAll(/[^a-zA-Z0-9]+/gu, '-')
  const name = `${wave === 0 ? 'canary' : `wave-${wave}`}-${at + 1}-${readable}`
  return name.slice(0, 60).replace(/-+$/u, '')
}

/** The same line again continues after each of these ends; every other one needs a person. A pod that is lost is an error, not a failure. */
const retryStrategy = {
  limit: '6',
  retryPolicy: 'Always',
  expression: `lastRetry.status == "Error" || asInt(lastRetry.exitCode) in [${retriedCodes.join(', ')}]`,
  backoff: { duration: '30s', factor: '2' },
}

const podOf = (more: readonly string[]) => ({
  retryStrategy,
  container: {
    name: 'main',
    image: '{{workflow.parameters.image}}',
    command: ['/usr/bin/kvup'],
    args: [
      'fleet',
      'upgrade',
      '--plan=/plan/fleet-plan.yaml',
      '--kubeconfig=/kubeconfig/config',
      ...more,
      '--yes',
      '--output=json',
    ],
    workingDir: '/work',
    env: [
      { name: 'HOME', value: '/home/kvup' },
      { name: 'TMPDIR', value: '/tmp' },
    ],
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    },
    volumeMounts: [
      { name: 'plan', mountPath: '/plan', readOnly: true },
      { name: 'kubeconfig', mountPath: '/kubeconfig', readOnly: true },
      { name: 'work', mountPath: '/work' },
      { name: 'home', mountPath: '/home/kvup' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  },
})
