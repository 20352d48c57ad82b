exec(open('.e.py').read())
def addimp(p,names,frm):
    t=open(p).read()
    if 'import { '+names in t or re.search(r'import [^;]*\b'+names+r'\b[^;]*"'+re.escape(frm)+'"',t): return
    m=re.search(r'^import [^"]*"[.#]|^import "[.#]',t,flags=re.M)
    if not m: m=re.search(r'^',t)
    t=t[:m.start()]+f'import {{ {names} }} from "{frm}";\n'+t[m.start():]
    open(p,'w').write(t)
def sub(p,*prs):
    t=open(p).read()
    for a,b in prs:
        n=re.sub(a,b,t,flags=re.M)
        if n==t: print('!!',p,a)
        t=n
    open(p,'w').write(t)
