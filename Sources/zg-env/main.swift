print("zg-env")
