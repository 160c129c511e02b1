/**
 * Compiled code is kept for the next start, in a folder that nobody but this user can write to: whoever can, runs code as whoever starts
 * kvup, for Node checks neither the owner of an entry nor what is in it. So never in the shared temporary folder, which is what Node
 * takes where no folder is named; and where there is no such folder, nothing is kept. NODE_COMPILE_CACHE is the user's own word.
 */
export function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE) return
  try {
    const folder = ownFolder()
    // An import of node:module copies all it has, which takes longer than what we want of it.
    if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(folder)
  } catch {
    // A home that is full, read-only or not there: kvup starts a little slower.
  }
}

function ownFolder() {
  const fs = process.getBuiltinModule('node:fs')
  const path = process.getBuiltinModule('node:path')
  const caches = cacheHome(path)
  const folder = path.join(caches, 'kvup')
  // One by one: the recursive way never ends where there can be no folder (/proc).
  for (const one of [caches, folder]) if (!fs.existsSync(one)) fs.mkdirSync(one, { mode: 0o700 })
  // Who owns the folder above can put another one in its place.
  return isOwn(fs.statSync(caches)) && isOwn(fs.lstatSync(folder)) ? folder : undefined
}

function cacheHome(path) {
  const { XDG_CACHE_HOME: named, LOCALAPPDATA: local } = process.env
  if (process.platform === 'win32' && local) return local
  const home = process.env.HOME || process.getBuiltinModule('node:os').homedir()
  return named && path.isAbsolute(named) ? named : path.join(home, '.cache')
}

/** Windows has no such owner; its folder for local data is the user's alone. */
function isOwn(found) {
  if (process.getuid === undefined) return found.isDirectory()
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o022) === 0
}
