// A Kubernetes client in a hundred lines: enough for the lab's own tools.
import fs from 'node:fs'
import https from 'node:https'

const bytes = (base64) => Buffer.from(base64, 'base64')
const parsed = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A client for the cluster of a kubeconfig that `up` wrote; `token` replaces its user. */
export function connect(kubeconfigFile, token) {
  const kubeconfig = JSON.parse(fs.readFileSync(kubeconfigFile, 'utf8'))
  const { cluster } = kubeconfig.clusters[0]
  const { user } = kubeconfig.users[0]
  const { hostname: host, port } = new URL(cluster.server)
  const agent = new https.Agent({
    keepAlive: true,
    ca: bytes(cluster['certificate-authority-data']),
    ...(!token && { cert: bytes(user['client-certificate-data']), key: bytes(user['client-key-data']) }),
  })

  function open({ method, path, body, type = 'application/json' }, onResponse, onError) {
    const data = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      accept: 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...(data !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(data) }),
    }
    const request = https.request({ host, port, path, method, headers, agent }, onResponse)
    request.on('error', onError)
    request.end(data)
    return request
  }

  const call = (method, path, body, type) =>
    new Promise((resolve, reject) => {
      const answered = (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const value = parsed(Buffer.concat(chunks).toString())
          const code = response.statusCode
          if (code < 300) resolve(value)
          else
            reject(
              Object.assign(new Error(`${method} ${path}: ${code} ${value?.message ?? value}`), {
                code,
                value,
              }),
            )
        })
      }
      open({ method, path, body, type }, answered, reject)
    })

  /** Calls on({type, object}) for what exists and then for every change; lists again when the watch breaks. */
  function watch(path, on) {
    const known = new Map()

    async function list() {
      const found = await call('GET', path)
      const seen = new Set()
      for (const object of found.items ?? []) {
        object.apiVersion ??= found.apiVersion
        object.kind ??= found.kind.replace(/List$/, '')
        const { uid, resourceVersion } = object.metadata
        seen.add(uid)
        const before = known.get(uid)
        known.set(uid, object)
        if (before?.metadata.resourceVersion !== resourceVersion)
          on({ type: before ? 'MODIFIED' : 'ADDED', object })
      }
      for (const [uid, object] of known) {
        if (seen.has(uid)) continue
        known.delete(uid)
        on({ type: 'DELETED', object })
      }
      return found.metadata.resourceVersion
    }

    function take(line) {
      const event = JSON.parse(line)
      if (event.type === 'BOOKMARK') return true
      if (event.type === 'ERROR') return false
      const { uid } = event.object.metadata
      if (event.type === 'DELETED') known.delete(uid)
      else known.set(uid, event.object)
      on(event)
      return true
    }

    const follow = (version) =>
      new Promise((ended) => {
        const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${version}`
        const received = (response) => {
          let rest = ''
          response.setEncoding('utf8')
          response.on('data', (chunk) => {
            const lines = (rest + chunk).split('\n')
            rest = lines.pop()
            if (!lines.filter(Boolean).every(take)) response.destroy()
          })
          for (const end of ['error', 'end', 'close']) response.on(end, ended)
        }
        open({ method: 'GET', path: `${path}${path.includes('?') ? '&' : '?'}${query}` }, received, ended)
      })

    async function run() {
      let pause = 100
      try {
        await follow(await list())
      } catch {
        pause = 500
      }
      setTimeout(() => void run(), pause)
    }
    void run()
  }

  return {
    kubeconfig,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    patch: (path, body, type = 'merge-patch') => call('PATCH', path, body, `application/${type}+json`),
    watch,
  }
}
